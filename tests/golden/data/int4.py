def net(x):
    return torch.ops.aten._weight_int4pack_mm_for_cpu(x, torch.ones([64, 32]), 32, x)
