#!/usr/bin/python3
"""Language models as people deploy them, tiny ones: keys and values of the past are inputs and outputs, and
batch, length and past length are open. For the folder of a newer suite (tools/modern.sh sid python3 …).

    language_models.py make FOLDER      writes FOLDER/NAME.pt2 and, in NAME.json, 50 tokens that PyTorch chose
    language_models.py check FOLDER     NAME.onnx beside them chooses the same in ONNX Runtime
    language_models.py fixture FOLDER   writes decoder.214.*, a smaller one without places in source (tests/data/pt2)
"""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "peer"))
import peer_cpu  # noqa: E402, F401

STEPS, BATCH, PROMPT = 50, 2, 5
SIZES = dict(vocab_size=97, bos_token_id=0, eos_token_id=None, pad_token_id=0)


def models():
    from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM
    gpt2 = GPT2Config(n_embd=16, n_layer=2, n_head=2, n_positions=64, n_inner=32, **SIZES)
    llama = LlamaConfig(hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=4,
                        num_key_value_heads=2, max_position_embeddings=64, **SIZES)
    return {"gpt2": (GPT2LMHeadModel, gpt2), "llama": (LlamaForCausalLM, llama)}


def empty_past(config, batch, length=0):
    """A (key, value) of every layer, for as many tokens."""
    import torch
    heads = getattr(config, "num_key_value_heads", config.num_attention_heads)
    sizes = (batch, heads, length, config.hidden_size // config.num_attention_heads)
    return [(torch.randn(sizes), torch.randn(sizes)) for _ in range(config.num_hidden_layers)]


def decoder(model):
    """The model as a function of tensors alone."""
    import torch
    from transformers import DynamicCache

    class Decoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask, position_ids, past_key_values):
            cache = DynamicCache(past_key_values)
            out = self.model(input_ids, attention_mask=attention_mask, position_ids=position_ids,
                             past_key_values=cache, use_cache=True)
            return {"logits": out.logits, "present": [(l.keys, l.values) for l in cache.layers]}

    return Decoder().eval()


def greedy(run, prompt, past):
    """run(ids, mask, positions, past) -> logits, past. The tokens chosen, a list for each step."""
    import numpy
    ids, seen, chosen = numpy.array(prompt), 0, []
    for _ in range(STEPS):
        batch, length = ids.shape
        mask = numpy.ones((batch, seen + length), "int64")
        positions = numpy.arange(seen, seen + length)[None].repeat(batch, 0)
        logits, past = run(ids, mask, positions, past)
        ids, seen = logits[:, -1].argmax(-1)[:, None], seen + length
        chosen.append(ids[:, 0].tolist())
    return chosen


def program_of(kind, config):
    import torch
    torch.manual_seed(1)
    model = kind(config).eval()
    with torch.no_grad():  # logits far apart, so that rounding chooses nothing
        for p in model.parameters():
            if p.dim() > 1:
                p.mul_(20)
    net = decoder(model)
    batch, length, past = (torch.export.Dim(n, min=1, max=1024) for n in ("batch", "length", "past"))
    tokens = {0: batch, 1: length}
    shapes = {"input_ids": tokens, "position_ids": tokens,
              "attention_mask": {0: batch, 1: torch.export.Dim.AUTO},
              "past_key_values": [({0: batch, 2: past}, {0: batch, 2: past})] * config.num_hidden_layers}
    example = (torch.randint(0, 97, (2, 3)), torch.ones(2, 7, dtype=torch.int64),
               torch.arange(4, 7)[None].repeat(2, 1), empty_past(config, 2, 4))
    program = torch.export.export(net, example, dynamic_shapes=shapes, strict=False)
    return net, program, example


def choose(net, config):
    """A prompt, and what PyTorch goes on with."""
    import torch

    def run(ids, mask, positions, past):
        out = net(*map(torch.tensor, (ids, mask, positions)), past)
        return out["logits"].numpy(), out["present"]

    prompt = torch.randint(0, 97, (BATCH, PROMPT)).tolist()
    with torch.no_grad():
        return prompt, greedy(run, prompt, empty_past(config, BATCH))


def make(folder, name, kind, config):
    import torch
    net, program, _ = program_of(kind, config)
    torch.export.save(program, folder / f"{name}.pt2")
    prompt, chosen = choose(net, config)
    heads, size = empty_past(config, 1)[0][0].shape[1::2]
    (folder / f"{name}.json").write_text(json.dumps({
        "prompt": prompt, "chosen": chosen, "layers": config.num_hidden_layers, "heads": heads, "size": size}))
    print(f"{name}: {len({tuple(c) for c in chosen})} different steps of {STEPS}")


def fixture(folder, kind, config):
    import numpy
    import torch
    config.num_hidden_layers = 1
    net, program, example = program_of(kind, config)
    for node in program.graph.nodes:
        for key in ("stack_trace", "nn_module_stack", "source_fn_stack", "from_node"):
            node.meta.pop(key, None)
    torch.export.save(program, folder / "decoder.214.pt2")
    with torch.no_grad():
        out = net(*example)
    for i, value in enumerate([out["logits"], *out["present"][0]]):
        numpy.save(folder / f"decoder.214.{i}.npy", value.numpy())
    for name, tokens in zip(("prompt", "chosen"), choose(net, config)):
        numpy.save(folder / f"decoder.214.{name}.npy", numpy.array(tokens))


def check(folder, name):
    """The same tokens, step for step, from the exported model."""
    import numpy
    import onnxruntime
    onnxruntime.set_default_logger_severity(3)
    about = json.loads((folder / f"{name}.json").read_text())
    session = onnxruntime.InferenceSession(folder / f"{name}.onnx", providers=["CPUExecutionProvider"])
    kinds = [f"{layer}.{kind}" for layer in range(about["layers"]) for kind in ("key", "value")]
    outputs = ["logits"] + [f"present.{kind}" for kind in kinds]

    def run(ids, mask, positions, past):
        inputs = {f"past_key_values.{kind}": value for kind, value in zip(kinds, past)}
        logits, *past = session.run(outputs, {"input_ids": ids, "attention_mask": mask,
                                              "position_ids": positions, **inputs})
        return logits, past

    empty = numpy.zeros((BATCH, about["heads"], 0, about["size"]), "float32")
    chosen = greedy(run, about["prompt"], [empty] * len(kinds))
    same = next((i for i in range(STEPS) if chosen[i] != about["chosen"][i]), STEPS)
    print(f"{name}: {same} of {STEPS} steps of greedy decoding are those of PyTorch")
    return same == STEPS


def main():
    what, folder = sys.argv[1], Path(sys.argv[2])
    if what == "make":
        for name, (kind, config) in models().items():
            make(folder, name, kind, config)
        return 0
    if what == "fixture":
        fixture(folder, *models()["llama"])
        return 0
    return 0 if all([check(folder, path.stem) for path in sorted(folder.glob("*.json"))]) else 1


if __name__ == "__main__":
    sys.exit(main())
