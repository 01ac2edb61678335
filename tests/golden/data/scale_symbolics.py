"""An operator of another domain."""


@symbolic("mylib::scale", opset=9)
def scale(x, by):
    return op("com.example::Scale", x, by=by)
