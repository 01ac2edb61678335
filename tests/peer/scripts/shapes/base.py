class Shape:
    def __init__(self, size):
        self.size = size

    def name(self):
        return f"{type(self).__name__} of {self.size}"
