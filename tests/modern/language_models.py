#!/usr/bin/python3
"""Language models as people deploy them, tiny ones: keys and values of the past are inputs and outputs, and
batch, length and past length are open. For the folder of a newer suite (tools/modern.sh sid python3 …).

    language_models.py make FOLDER [NAME…]    writes FOLDER/NAME.pt2 and, in NAME.json, 50 tokens that PyTorch chose
    language_models.py check FOLDER           NAME.onnx beside them chooses the same in ONNX Runtime; of an encoder
                                              and decoder it is NAME.encoder.onnx, NAME.first.onnx, NAME.next.onnx
    language_models.py fixture FOLDER         writes decoder.214.*, a smaller one without places in source (tests/data/pt2)

docs/language-models.md shows what is done here for one model.
"""
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "peer"))
import peer_cpu  # noqa: E402, F401

STEPS, BATCH, PROMPT, WORDS, FRAMES = 50, 2, 5, 97, 60
SIZES = dict(vocab_size=WORDS, bos_token_id=0, eos_token_id=None, pad_token_id=0)
LAYERS = dict(hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=4,
              max_position_embeddings=64, tie_word_embeddings=False, **SIZES)
GROUPED = dict(num_key_value_heads=2, head_dim=4, **LAYERS)


def decoders():
    """A model of each kind: old and new positions, norms, windows, grouped heads, experts."""
    import transformers as t
    gpt2 = t.GPT2Config(n_embd=16, n_layer=2, n_head=2, n_positions=64, n_inner=32, **SIZES)
    opt = t.OPTConfig(hidden_size=16, ffn_dim=32, num_hidden_layers=2, num_attention_heads=4, word_embed_proj_dim=16,
                      max_position_embeddings=64, **SIZES)
    bloom = t.BloomConfig(hidden_size=16, n_layer=2, n_head=4, **SIZES)
    return {"gpt2": (t.GPT2LMHeadModel, gpt2), "opt": (t.OPTForCausalLM, opt), "bloom": (t.BloomForCausalLM, bloom),
            "gpt_neox": (t.GPTNeoXForCausalLM, t.GPTNeoXConfig(**LAYERS)),
            "phi": (t.PhiForCausalLM, t.PhiConfig(**LAYERS)),
            "llama": (t.LlamaForCausalLM, t.LlamaConfig(**GROUPED)),
            "mistral": (t.MistralForCausalLM, t.MistralConfig(sliding_window=8, **GROUPED)),
            "qwen3": (t.Qwen3ForCausalLM, t.Qwen3Config(**GROUPED)),
            "gemma3": (t.Gemma3ForCausalLM, t.Gemma3TextConfig(sliding_window=16, **GROUPED)),
            "mixtral": (t.MixtralForCausalLM, t.MixtralConfig(num_local_experts=4, **GROUPED))}


def encoder_decoders():
    import transformers as t
    both = dict(SIZES, decoder_start_token_id=0, forced_eos_token_id=None)
    layers = dict(encoder_layers=2, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2,
                  encoder_ffn_dim=32, decoder_ffn_dim=32, d_model=16, **both)
    t5 = t.T5Config(d_model=16, d_kv=4, d_ff=32, num_layers=2, num_heads=4, **both)
    bart = t.BartConfig(max_position_embeddings=64, **layers)
    whisper = t.WhisperConfig(num_mel_bins=8, max_source_positions=FRAMES // 2, max_target_positions=64, **layers)
    return {"t5": (t.T5ForConditionalGeneration, t5), "bart": (t.BartForConditionalGeneration, bart),
            "whisper": (t.WhisperForConditionalGeneration, whisper)}


def build(kind, config):
    import torch
    torch.manual_seed(1)
    model = kind(config).eval()
    with torch.no_grad():  # logits far apart, so that rounding chooses nothing
        for p in model.parameters():
            if p.dim() > 1:
                p.mul_(20)
    return model


def sizes():
    import torch
    return [torch.export.Dim(n, min=1, max=1024) for n in ("batch", "length", "past")]


def greedy(step, ids):
    """step(ids, seen) -> logits. The tokens chosen, a list for each step."""
    import numpy
    ids, seen, chosen = numpy.array(ids), 0, []
    for _ in range(STEPS):
        logits = step(ids, seen)
        seen += ids.shape[1]
        ids = logits[:, -1].argmax(-1)[:, None]
        chosen.append(ids[:, 0].tolist())
    return chosen


# ---- decoders ----

def empty_past(config, batch, length=0):
    """A (key, value) of every layer, for as many tokens."""
    import torch
    heads = getattr(config, "num_key_value_heads", config.num_attention_heads)
    shape = (batch, heads, length, config.hidden_size // config.num_attention_heads)
    return [(torch.randn(shape), torch.randn(shape)) for _ in range(config.num_hidden_layers)]


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
            positions = {} if model.config.model_type == "bloom" else {"position_ids": position_ids}
            out = self.model(input_ids, attention_mask=attention_mask, past_key_values=cache, use_cache=True, **positions)
            return {"logits": out.logits, "present": [(l.keys, l.values) for l in cache.layers]}

    return Decoder().eval()


def program_of(kind, config):
    import torch
    net = decoder(build(kind, config))
    batch, length, past = sizes()
    tokens = {0: batch, 1: length}
    shapes = {"input_ids": tokens, "position_ids": tokens,
              "attention_mask": {0: batch, 1: torch.export.Dim.AUTO},
              "past_key_values": [({0: batch, 2: past}, {0: batch, 2: past})] * config.num_hidden_layers}
    example = (torch.randint(0, WORDS, (2, 3)), torch.ones(2, 7, dtype=torch.int64),
               torch.arange(4, 7)[None].repeat(2, 1), empty_past(config, 2, 4))
    return net, torch.export.export(net, example, dynamic_shapes=shapes, strict=False), example


def inputs_of_step(ids, seen):
    import numpy
    batch, length = ids.shape
    return {"input_ids": ids, "attention_mask": numpy.ones((batch, seen + length), "int64"),
            "position_ids": numpy.arange(seen, seen + length)[None].repeat(batch, 0)}


def choose(net, config):
    """A prompt, and what PyTorch goes on with."""
    import torch
    past = empty_past(config, BATCH)

    def step(ids, seen):
        nonlocal past
        out = net(*map(torch.tensor, inputs_of_step(ids, seen).values()), past)
        past = out["present"]
        return out["logits"].numpy()

    prompt = torch.randint(0, WORDS, (BATCH, PROMPT)).tolist()
    with torch.no_grad():
        return prompt, greedy(step, prompt)


def make_decoder(folder, name, kind, config):
    import torch
    net, program, _ = program_of(kind, config)
    torch.export.save(program, folder / f"{name}.pt2")
    prompt, chosen = choose(net, config)
    heads, size = empty_past(config, 1)[0][0].shape[1::2]
    return {"prompt": prompt, "chosen": chosen, "layers": config.num_hidden_layers, "heads": heads, "size": size}


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


# ---- encoders with decoders ----

def parts_of(model):
    """Three functions of tensors alone: the encoder, a decoder that has no past, and one that has."""
    import torch
    from transformers import DynamicCache, EncoderDecoderCache

    def decode(ids, hidden, past):
        cache = EncoderDecoderCache(past) if past else EncoderDecoderCache(DynamicCache(), DynamicCache())
        logits = model(encoder_outputs=(hidden,), decoder_input_ids=ids, past_key_values=cache, use_cache=True).logits
        own = [(l.keys, l.values) for l in cache.self_attention_cache.layers]
        cross = [(l.keys, l.values) for l in cache.cross_attention_cache.layers]
        return logits, own, cross

    class Part(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

    class Encoder(Part):
        def forward(self, input):
            return {"last_hidden_state": self.model.get_encoder()(input).last_hidden_state}

    class First(Part):
        def forward(self, input_ids, encoder_hidden_states):
            logits, own, cross = decode(input_ids, encoder_hidden_states, None)
            return {"logits": logits, "present": [(*o, *c) for o, c in zip(own, cross)]}

    class Next(Part):
        def forward(self, input_ids, encoder_hidden_states, past_key_values):
            logits, own, _ = decode(input_ids, encoder_hidden_states, past_key_values)
            return {"logits": logits, "present": own}

    return Encoder().eval(), First().eval(), Next().eval()


def source_of(config, batch, length):
    """The inputs of the encoder: tokens, or a fixed number of audio frames."""
    import torch
    if config.model_type == "whisper":
        return torch.randn(batch, config.num_mel_bins, FRAMES)
    return torch.randint(1, WORDS, (batch, length))


def make_encoder_decoder(folder, name, kind, config):
    import torch
    from torch.export.pt2_archive._package import package_pt2
    encoder, first, following = parts_of(build(kind, config))
    batch, length, past = sizes()
    seen = {} if config.model_type == "whisper" else {1: length}
    cross = {0: batch, **({2: length} if seen else {})}
    source, ids = source_of(config, 3, 7), torch.randint(1, WORDS, (3, 2))
    with torch.no_grad():
        hidden = encoder(source)["last_hidden_state"]
        present = first(ids, hidden)["present"]
    states = {0: batch, **seen}
    with torch.no_grad():
        programs = {
            "encoder": torch.export.export(encoder, (source,), dynamic_shapes=({0: batch, **seen},), strict=False),
            "first": torch.export.export(first, (ids, hidden), strict=False, dynamic_shapes=(
                {0: batch, 1: torch.export.Dim("new", min=1, max=1024)}, states)),
            "next": torch.export.export(following, (ids[:, :1], hidden, present), strict=False, dynamic_shapes=(
                {0: batch}, states, [({0: batch, 2: past},) * 2 + (cross,) * 2] * len(present)))}
    package_pt2(folder / f"{name}.pt2", exported_programs=programs)
    source = source_of(config, BATCH, PROMPT)
    past = None

    def step(ids, seen):
        nonlocal past
        ids = torch.tensor(ids)
        out = following(ids, hidden, past) if past else first(ids, hidden)
        past = [(*own, *old[2:]) for own, old in zip(out["present"], past)] if past else out["present"]
        return out["logits"].numpy()

    with torch.no_grad():
        hidden = encoder(source)["last_hidden_state"]
        chosen = greedy(step, [[0]] * BATCH)
    return {"source": source.tolist(), "chosen": chosen, "layers": len(present)}


# ---- checking ----

def session_of(path):
    import onnxruntime
    onnxruntime.set_default_logger_severity(3)
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])


def run_decoder(folder, name, about):
    import numpy
    session = session_of(folder / f"{name}.onnx")
    kinds = [f"{layer}.{kind}" for layer in range(about["layers"]) for kind in ("key", "value")]
    outputs = ["logits"] + [f"present.{kind}" for kind in kinds]
    past = [numpy.zeros((BATCH, about["heads"], 0, about["size"]), "float32")] * len(kinds)

    def step(ids, seen):
        nonlocal past
        given = {f"past_key_values.{kind}": value for kind, value in zip(kinds, past)}
        logits, *past = session.run(outputs, {**inputs_of_step(ids, seen), **given})
        return logits

    return greedy(step, about["prompt"])


def run_encoder_decoder(folder, name, about):
    import numpy
    encoder, first, following = (session_of(folder / f"{name}.{part}.onnx") for part in ("encoder", "first", "next"))
    source = numpy.array(about["source"])
    source = source.astype("float32" if source.ndim == 3 else "int64")
    hidden, = encoder.run(["last_hidden_state"], {"input": source})
    past = {}

    def step(ids, seen):
        session = following if past else first
        wanted = [v.name for v in session.get_outputs()]
        given = {"input_ids": ids, "encoder_hidden_states": hidden, **past}
        given = {v.name: given[v.name] for v in session.get_inputs()}
        values = dict(zip(wanted, session.run(wanted, given)))
        past.update({n.replace("present", "past_key_values"): v for n, v in values.items() if n != "logits"})
        return values["logits"]

    chosen = greedy(step, [[0]] * BATCH)
    assert len(past) == 4 * about["layers"], sorted(past)
    return chosen


def check(folder, name):
    """The same tokens, step for step, from the exported model."""
    about = json.loads((folder / f"{name}.json").read_text())
    chosen = (run_encoder_decoder if "source" in about else run_decoder)(folder, name, about)
    same = next((i for i in range(STEPS) if chosen[i] != about["chosen"][i]), STEPS)
    print(f"{name}: {same} of {STEPS} steps of greedy decoding are those of PyTorch")
    return same == STEPS


def make(folder, wanted):
    for models, write in ((decoders(), make_decoder), (encoder_decoders(), make_encoder_decoder)):
        for name, (kind, config) in models.items():
            if wanted and name not in wanted:
                continue
            about = write(folder, name, kind, config)
            (folder / f"{name}.json").write_text(json.dumps(about))
            print(f"{name}: {len({tuple(c) for c in about['chosen']})} different steps of {STEPS}", flush=True)


def main():
    what, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    if what == "make":
        make(folder, sys.argv[3:])
    elif what == "fixture":
        fixture(folder, *decoders()["llama"])
    else:
        return 0 if all([check(folder, path.stem) for path in sorted(folder.glob("*.json"))]) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
