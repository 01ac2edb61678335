"""Models of transformers for programs.py, small, with random weights."""
import torch
from torch.export import Dim

PROGRAMS = {}
AUTO = Dim.AUTO
SMALL = dict(vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
             num_key_value_heads=2, head_dim=8, max_position_embeddings=64, pad_token_id=0, bos_token_id=1,
             eos_token_id=2)


class Logits(torch.nn.Module):
    """The first tensor that a model returns, without a cache."""
    def __init__(self, net, name):
        super().__init__()
        self.net, self.name = net, name

    def forward(self, *args):
        out = self.net(**dict(zip(self.name, args)), use_cache=False, return_dict=True)
        return out.logits if hasattr(out, "logits") else out.last_hidden_state


class Image(torch.nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, pixel_values):
        out = self.net(pixel_values=pixel_values)
        return [v for v in out.values() if isinstance(v, torch.Tensor)][:3]


def tokens(batch, length):
    return torch.randint(3, 60, (batch, length))


def text(kind, config, **options):
    """Registers a language model by the names of its classes."""
    def make():
        import transformers as t
        net = getattr(t, kind)(getattr(t, config)(**{**SMALL, **options})).eval()
        sets = [(tokens(2, 7), torch.ones(2, 7, dtype=torch.int64)), (tokens(3, 11), torch.ones(3, 11, dtype=torch.int64))]
        sets[1][1][0, :4] = 0
        return Logits(net, ["input_ids", "attention_mask"]), sets, (({0: AUTO, 1: AUTO}, {0: AUTO, 1: AUTO}),)
    PROGRAMS["hf_" + kind] = make


def image(kind, config, size=64, **options):
    def make():
        import transformers as t
        net = getattr(t, kind)(getattr(t, config)(**options)).eval()
        return Image(net), [(torch.randn(2, 3, size, size),), (torch.randn(3, 3, size, size),)], ({0: AUTO},)
    PROGRAMS["hf_" + kind] = make


text("Gemma4ForCausalLM", "Gemma4TextConfig", sliding_window=8, vocab_size_per_layer_input=64, hidden_size_per_layer_input=8)
text("Gemma3ForCausalLM", "Gemma3TextConfig", sliding_window=8)
text("Qwen3ForCausalLM", "Qwen3Config")
text("GptOssForCausalLM", "GptOssConfig", num_local_experts=4, num_experts_per_tok=2, sliding_window=8)
text("Olmo2ForCausalLM", "Olmo2Config")
text("Glm4ForCausalLM", "Glm4Config")
text("Cohere2ForCausalLM", "Cohere2Config", sliding_window=8)
text("GraniteForCausalLM", "GraniteConfig")
text("Phi3ForCausalLM", "Phi3Config")
text("Mamba2ForCausalLM", "Mamba2Config", state_size=8, num_heads=8, head_dim=8, n_groups=2, chunk_size=4)
text("Lfm2ForCausalLM", "Lfm2Config")
text("SmolLM3ForCausalLM", "SmolLM3Config")
text("ModernBertModel", "ModernBertConfig", global_attn_every_n_layers=2, local_attention=8)
image("Dinov2Model", "Dinov2Config", hidden_size=32, num_hidden_layers=2, num_attention_heads=4, image_size=64, patch_size=16)
image("DINOv3ViTModel", "DINOv3ViTConfig", hidden_size=32, num_hidden_layers=2, num_attention_heads=4, image_size=64,
      patch_size=16, intermediate_size=48)
image("SiglipVisionModel", "SiglipVisionConfig", hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
      intermediate_size=48, image_size=64, patch_size=16)
image("ConvNextV2Model", "ConvNextV2Config", hidden_sizes=[8, 8, 16, 16], depths=[1, 1, 1, 1])
image("Swinv2Model", "Swinv2Config", embed_dim=16, depths=[1, 1], num_heads=[2, 2], window_size=4, image_size=64)
image("SegformerForSemanticSegmentation", "SegformerConfig", depths=[1, 1, 1, 1], hidden_sizes=[8, 8, 16, 16],
      decoder_hidden_size=16, num_attention_heads=[1, 1, 2, 2])
