"""numbers: classes that stand for builtin types in isinstance."""


class Number:
    __natives__ = ["int", "float", "bool", "complex"]


class Complex(Number):
    __natives__ = ["int", "float", "bool", "complex"]


class Real(Complex):
    __natives__ = ["int", "float", "bool"]


class Rational(Real):
    __natives__ = ["int", "bool"]


class Integral(Rational):
    __natives__ = ["int", "bool"]
