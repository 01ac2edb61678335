"""ReLU as others would write it."""


@symbolic("aten::relu", opset=9)
def relu(self):
    return Max(self, Sub(self, self))
