"""Layers of torch.nn with arguments and inputs, for torch_library.py and source_layers.py.

A case is an expression in `nn`, then the inputs of forward: a shape for float32, "int:N:SHAPE" for
integers below N, or a Python expression that begins with "=".
"""
CASES = [
    # ---- linear ----
    ("nn.Linear(7, 5)", "2x7"), ("nn.Linear(7, 5, bias=False)", "2x3x7"),
    ("nn.Bilinear(3, 4, 5)", "2x3", "2x4"), ("nn.Identity(54, flag=1)", "2x3"),
    ("nn.LazyLinear(5)", "2x7"),
    # ---- convolutions ----
    ("nn.Conv1d(4, 6, 3, stride=2, padding=1, groups=2)", "2x4x11"),
    ("nn.Conv1d(4, 6, 3, padding='same', padding_mode='circular')", "2x4x11"),
    ("nn.Conv2d(3, 8, (3, 5), stride=(2, 1), padding=(1, 2), dilation=(1, 2))", "2x3x12x14"),
    ("nn.Conv2d(3, 8, 3, padding='same', bias=False)", "2x3x8x9"),
    ("nn.Conv2d(3, 8, 3, padding='valid')", "2x3x8x9"),
    ("nn.Conv2d(4, 8, 3, padding=1, padding_mode='reflect')", "2x4x8x9"),
    ("nn.Conv2d(4, 8, 3, padding=1, padding_mode='replicate', groups=4)", "2x4x8x9"),
    ("nn.Conv3d(2, 4, 3, padding=1)", "1x2x5x6x7"),
    ("nn.ConvTranspose1d(4, 6, 3, stride=2, padding=1, output_padding=1)", "2x4x7"),
    ("nn.ConvTranspose2d(4, 6, 3, stride=2, groups=2, bias=False)", "2x4x5x6"),
    ("nn.ConvTranspose2d(4, 6, (3, 2), stride=2, dilation=2)", "2x4x5x6"),
    ("nn.ConvTranspose3d(2, 4, 3)", "1x2x3x4x5"),
    ("nn.LazyConv1d(6, 3)", "2x4x9"), ("nn.LazyConv2d(6, 3, bias=False)", "2x4x9x9"),
    ("nn.LazyConv3d(4, 2)", "1x2x3x4x5"), ("nn.LazyConvTranspose1d(6, 3)", "2x4x9"),
    ("nn.LazyConvTranspose2d(6, 3)", "2x4x5x5"), ("nn.LazyConvTranspose3d(4, 2)", "1x2x3x3x3"),
    # ---- normalization ----
    ("nn.BatchNorm1d(6)", "4x6"), ("nn.BatchNorm1d(6, momentum=None)", "4x6x5"),
    ("nn.BatchNorm2d(6, eps=1e-3, affine=False)", "4x6x5x5"),
    ("nn.BatchNorm2d(6, track_running_stats=False)", "4x6x5x5"), ("nn.BatchNorm3d(6)", "2x6x3x4x5"),
    ("nn.LazyBatchNorm1d()", "4x6"), ("nn.LazyBatchNorm2d()", "4x6x5x5"),
    ("nn.LazyBatchNorm3d()", "2x6x3x4x5"),
    ("nn.InstanceNorm1d(6)", "2x6x7"), ("nn.InstanceNorm2d(6, affine=True)", "2x6x5x5"),
    ("nn.InstanceNorm2d(6, track_running_stats=True)", "2x6x5x5"), ("nn.InstanceNorm3d(3)", "2x3x3x4x5"),
    ("nn.LazyInstanceNorm1d()", "2x6x7"), ("nn.LazyInstanceNorm2d()", "2x6x5x5"),
    ("nn.LazyInstanceNorm3d()", "2x3x3x4x5"),
    ("nn.LayerNorm(7)", "2x3x7"), ("nn.LayerNorm((3, 7), elementwise_affine=False)", "2x3x7"),
    ("nn.GroupNorm(2, 6)", "2x6x5x5"), ("nn.GroupNorm(3, 6, affine=False)", "2x6x5"),
    ("nn.LocalResponseNorm(3)", "2x6x5x5"),
    # ---- pooling ----
    ("nn.MaxPool1d(3, 2)", "2x4x11"), ("nn.MaxPool2d(3, stride=2, padding=1)", "2x4x11x12"),
    ("nn.MaxPool2d((2, 3), ceil_mode=True, dilation=2)", "2x4x11x12"), ("nn.MaxPool3d(2)", "1x2x4x5x6"),
    ("nn.MaxPool2d(2, return_indices=True)", "2x4x6x6"),
    ("nn.AvgPool1d(3, padding=1)", "2x4x11"), ("nn.AvgPool2d(3, 2, 1, count_include_pad=False)", "2x4x11x12"),
    ("nn.AvgPool2d(3, 2, divisor_override=5)", "2x4x11x12"), ("nn.AvgPool3d(2)", "1x2x4x5x6"),
    ("nn.LPPool1d(2, 3)", "=torch.rand(2, 4, 11)"), ("nn.LPPool2d(2, 3, stride=2)", "=torch.rand(2, 4, 11, 12)"),
    ("nn.AdaptiveAvgPool1d(5)", "2x4x11"), ("nn.AdaptiveAvgPool2d((5, None))", "2x4x11x12"),
    ("nn.AdaptiveAvgPool2d(1)", "2x4x11x12"), ("nn.AdaptiveAvgPool3d((2, 3, 4))", "1x2x4x5x6"),
    ("nn.AdaptiveMaxPool1d(5)", "2x4x11"), ("nn.AdaptiveMaxPool2d((None, 7))", "2x4x11x12"),
    ("nn.AdaptiveMaxPool3d(2)", "1x2x4x5x6"),
    ("nn.FractionalMaxPool2d(2, output_size=(4, 5))", "2x3x11x12"),
    ("nn.FractionalMaxPool2d(2, output_ratio=(0.5, 0.5))", "2x3x11x12"),
    ("nn.FractionalMaxPool3d(2, output_size=3)", "1x2x7x8x9"),
    ("nn.MaxUnpool1d(2)", "2x4x5", "=(torch.arange(5) * 2).expand(2, 4, 5).contiguous()"),
    ("nn.MaxUnpool2d(2)", "1x2x2x2", "=torch.tensor([[[[0, 3], [9, 15]], [[1, 2], [12, 14]]]])"),
    ("nn.MaxUnpool3d(1)", "1x1x2x2x2", "=torch.arange(8).view(1, 1, 2, 2, 2)"),
    # ---- padding ----
    *[(f"nn.{kind}Pad{d}d({pad}{', 3.5' if kind == 'Constant' else ''})", shape)
      for kind in ("Constant", "Reflection", "Replication")
      for d, pad, shape in ((1, "(1, 2)", "2x3x7"), (2, "(1, 2, 0, 1)", "2x3x7x6"), (3, "1", "1x2x3x4x5"))],
    ("nn.ZeroPad2d((1, 2, 0, 1))", "2x3x7x6"),
    # ---- activations ----
    *[(f"nn.{name}()", "=torch.randn(2, 6, 4) * 3")
      for name in ("ReLU", "ReLU6", "SELU", "SiLU", "Mish", "Hardswish", "Hardsigmoid", "Hardtanh", "ELU",
                   "CELU", "LeakyReLU", "Sigmoid", "Tanh", "LogSigmoid", "Softsign", "Tanhshrink", "GELU",
                   "GLU", "Hardshrink", "Softshrink", "Softplus", "PReLU", "RReLU")],
    ("nn.ReLU(inplace=True)", "2x3"), ("nn.ELU(0.5, True)", "2x3"), ("nn.LeakyReLU(0.2, inplace=True)", "2x3"),
    ("nn.Hardtanh(-2, 2)", "2x3"), ("nn.GELU('tanh')", "2x3"), ("nn.PReLU(4)", "2x4x3"),
    ("nn.Threshold(0.1, 20)", "2x3"), ("nn.Softplus(2, 10)", "2x3"),
    ("nn.Softmax(dim=1)", "2x3"), ("nn.Softmin(dim=1)", "2x3"), ("nn.LogSoftmax(dim=-1)", "2x3"),
    ("nn.Softmax2d()", "2x3x4x5"),
    # ---- recurrent ----
    ("nn.RNN(5, 6)", "3x2x5"), ("nn.RNN(5, 6, 2, nonlinearity='relu', batch_first=True)", "2x3x5"),
    ("nn.LSTM(5, 6, 2, bidirectional=True)", "3x2x5"), ("nn.LSTM(5, 6, batch_first=True, bias=False)", "2x3x5"),
    ("nn.LSTM(5, 6, proj_size=4)", "3x2x5"), ("nn.GRU(5, 6, 2, dropout=0.5)", "3x2x5"),
    ("nn.LSTM(5, 6)", "3x5"), ("nn.GRU(5, 6)", "3x2x5", "1x2x6"),
    ("nn.RNNCell(5, 6)", "2x5"), ("nn.RNNCell(5, 6, nonlinearity='relu', bias=False)", "2x5", "2x6"),
    ("nn.LSTMCell(5, 6)", "2x5"), ("nn.GRUCell(5, 6)", "2x5", "2x6"), ("nn.GRUCell(5, 6)", "5"),
    # ---- attention ----
    ("nn.MultiheadAttention(8, 2)", "3x2x8", "5x2x8", "5x2x8"),
    ("nn.MultiheadAttention(8, 2, batch_first=True, bias=False)", "2x3x8", "2x5x8", "2x5x8"),
    ("nn.MultiheadAttention(8, 2, kdim=6, vdim=4)", "3x2x8", "5x2x6", "5x2x4"),
    ("nn.MultiheadAttention(8, 2, add_bias_kv=True, add_zero_attn=True)", "3x2x8", "5x2x8", "5x2x8"),
    # ---- look-up ----
    ("nn.Embedding(10, 6)", "int:10:2x3"), ("nn.Embedding(10, 6, padding_idx=2)", "int:10:2x3"),
    ("nn.Embedding.from_pretrained(torch.arange(12.).view(4, 3))", "int:4:5"),
    ("nn.EmbeddingBag(10, 6)", "int:10:2x3"), ("nn.EmbeddingBag(10, 6, mode='sum')", "int:10:7", "=torch.tensor([0, 3])"),
    # ---- dropout ----
    ("nn.Dropout(0.3)", "2x6"), ("nn.Dropout1d()", "2x6x5"), ("nn.Dropout2d(0.2)", "2x6x5x5"),
    ("nn.Dropout3d()", "2x3x2x2x2"), ("nn.AlphaDropout(0.2)", "2x6"), ("nn.FeatureAlphaDropout()", "2x6x5"),
    # ---- shapes ----
    ("nn.Upsample(scale_factor=2)", "2x3x5x6"), ("nn.Upsample(size=(7, 9), mode='bilinear')", "2x3x5x6"),
    ("nn.Upsample(scale_factor=1.5, mode='bicubic', align_corners=True)", "2x3x5x6"),
    ("nn.Upsample(scale_factor=(2, 3), mode='nearest')", "2x3x5x6"),
    ("nn.Upsample(scale_factor=2, mode='linear')", "2x3x5"), ("nn.Upsample(scale_factor=2, mode='trilinear')", "1x2x3x4x5"),
    ("nn.UpsamplingNearest2d(scale_factor=2)", "2x3x5x6"), ("nn.UpsamplingBilinear2d(size=(8, 8))", "2x3x5x6"),
    ("nn.Flatten()", "2x3x4"), ("nn.Flatten(0, 1)", "2x3x4"), ("nn.Unflatten(1, (2, 3))", "2x6x4"),
    ("nn.Fold((4, 5), (2, 2))", "2x12x12"), ("nn.Unfold(2, padding=1)", "2x3x5x6"),
    ("nn.PixelShuffle(2)", "2x12x3x4"), ("nn.PixelUnshuffle(2)", "2x3x4x6"), ("nn.ChannelShuffle(2)", "2x6x3x4"),
    ("nn.CosineSimilarity()", "2x6", "2x6"), ("nn.PairwiseDistance()", "2x6", "2x6"),
    # ---- losses ----
    ("nn.L1Loss()", "2x6", "2x6"), ("nn.MSELoss(reduction='sum')", "2x6", "2x6"),
    ("nn.NLLLoss()", "4x6", "int:6:4"), ("nn.CrossEntropyLoss()", "4x6", "int:6:4"),
    ("nn.CrossEntropyLoss(weight=torch.arange(1., 7.), label_smoothing=0.1)", "4x6", "int:6:4"),
    ("nn.PoissonNLLLoss()", "2x6", "2x6"), ("nn.GaussianNLLLoss(full=True)", "2x6", "2x6", "=torch.rand(2, 6)"),
    ("nn.KLDivLoss(reduction='batchmean')", "2x6", "=torch.rand(2, 6)"),
    ("nn.BCELoss()", "=torch.rand(2, 6)", "=torch.rand(2, 6)"),
    ("nn.BCEWithLogitsLoss(pos_weight=torch.arange(1., 7.))", "2x6", "=torch.rand(2, 6)"),
    ("nn.HingeEmbeddingLoss()", "2x6", "=torch.randn(2, 6).sign()"),
    ("nn.MultiLabelMarginLoss()", "2x4", "=torch.tensor([[3, 0, -1, 1], [2, -1, 0, 1]])"),
    ("nn.SmoothL1Loss(beta=0.5)", "2x6", "2x6"), ("nn.HuberLoss(delta=0.5)", "2x6", "2x6"),
    ("nn.SoftMarginLoss()", "2x6", "=torch.randn(2, 6).sign()"),
    ("nn.MultiLabelSoftMarginLoss()", "2x6", "=torch.rand(2, 6).round()"),
    ("nn.CosineEmbeddingLoss()", "2x6", "2x6", "=torch.tensor([1, -1])"),
    ("nn.MarginRankingLoss(0.5)", "6", "6", "=torch.randn(6).sign()"),
    ("nn.MultiMarginLoss()", "4x6", "int:6:4"), ("nn.TripletMarginLoss()", "2x6", "2x6", "2x6"),
    ("nn.TripletMarginWithDistanceLoss(swap=True)", "2x6", "2x6", "2x6"),
    ("nn.CTCLoss()", "=torch.randn(9, 2, 5).log_softmax(2)", "=torch.randint(1, 5, (2, 4))",
     "=torch.tensor([9, 8])", "=torch.tensor([4, 3])"),
    ("nn.AdaptiveLogSoftmaxWithLoss(8, 12, [4, 8])", "3x8", "int:12:3"),
    # ---- containers ----
    ("nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Sequential(nn.Linear(5, 3)))", "2x4"),
    ("nn.Sequential(OrderedDict([('first', nn.Linear(4, 5)), ('second', nn.Tanh())]))", "2x4"),
    ("nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))[:2]", "2x4"),
    ("nn.ModuleList([nn.Linear(2, 2) for _ in range(3)] + [nn.ReLU()])",),
    ("nn.ModuleDict({'a': nn.Linear(2, 3), 'b': nn.ReLU()})",),
    # ---- utilities ----
    ("nn.utils.weight_norm(nn.Linear(4, 5))", "2x4"), ("nn.utils.weight_norm(nn.Conv1d(4, 5, 3), dim=None)", "2x4x7"),
    ("nn.utils.spectral_norm(nn.Conv2d(3, 4, 3))", "2x3x6x6"),
    ("nn.utils.remove_weight_norm(nn.utils.weight_norm(nn.Linear(4, 5)))", "2x4"),
    ("nn.utils.parametrizations.spectral_norm(nn.Linear(4, 5))", "2x4"),
    ("nn.utils.fuse_conv_bn_eval(nn.Conv2d(3, 4, 3).eval(), nn.BatchNorm2d(4).eval())", "2x3x6x6"),
]

# Layers that need operators of PyTorch 2.
NEWER = [
    ("nn.TransformerEncoderLayer(8, 2, 16)", "3x2x8"),
    ("nn.TransformerEncoderLayer(8, 2, 16, activation='gelu', norm_first=True, batch_first=True)", "2x3x8"),
    ("nn.TransformerDecoderLayer(8, 2, 16)", "3x2x8", "5x2x8"),
    ("nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2, nn.LayerNorm(8))", "3x2x8"),
    ("nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16), 2)", "3x2x8", "5x2x8"),
    ("nn.Transformer(8, 2, 1, 1, 16)", "3x2x8", "5x2x8"),
    ("nn.RMSNorm(7)", "2x3x7"), ("nn.CircularPad1d((1, 2))", "2x3x7"), ("nn.CircularPad2d(1)", "2x3x7x6"),
    ("nn.CircularPad3d(1)", "1x2x3x4x5"), ("nn.ZeroPad1d(2)", "2x3x7"), ("nn.ZeroPad3d(1)", "1x2x3x4x5"),
    ("nn.LPPool3d(2, 2)", "=torch.rand(1, 2, 4, 5, 6)"), ("nn.LayerNorm(7, bias=False)", "2x3x7"),
    ("nn.utils.parametrizations.weight_norm(nn.Linear(4, 5))", "2x4"),
    ("nn.TransformerEncoderLayer(8, 2, 16, bias=False)", "3x2x8"),
]

# Layers that draw random numbers in forward.
RANDOM = ("Dropout", "RReLU", "FractionalMaxPool", "GRU(5, 6, 2, dropout")

# Layers of PyTorch 2.14.
LATEST = [
    ("nn.LinearCrossEntropyLoss(5, 6)", "4x5", "int:6:4"),
    ("nn.LinearCrossEntropyLoss(5, 6, bias=True, reduction='sum', ignore_index=2)", "4x5", "int:6:4"),
    ("nn.LinearCrossEntropyLoss(5, 6, out_features=(3, 2), bias=True, label_smoothing=0.1)", "4x5", "int:6:4x3x2"),
]
