"""torch.backends: settings that change nothing here."""


class _Settings:
    enabled = False
    benchmark = False
    deterministic = True
    allow_tf32 = False
    fastpath_enabled = False

    def is_available(self):
        return False

    def is_built(self):
        return False

    def version(self):
        return None

    def get_fastpath_enabled(self):
        return False

    def set_fastpath_enabled(self, value):
        return None

    def enable_flash_sdp(self, enabled):
        return None

    def enable_mem_efficient_sdp(self, enabled):
        return None

    def enable_math_sdp(self, enabled):
        return None

    def flash_sdp_enabled(self):
        return False


class _Cuda(_Settings):
    matmul = _Settings()


class _Quantized(_Settings):
    engine = "fbgemm"
    supported_engines = ["fbgemm", "qnnpack"]


cudnn = _Settings()
cuda = _Cuda()
mps = _Settings()
mkldnn = _Settings()
mkl = _Settings()
openmp = _Settings()
mha = _Settings()
quantized = _Quantized()
