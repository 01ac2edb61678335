"""Methods of OrderedDict that are Python, each as a function whose first parameter is the dict."""


def move_to_end(self, key, last=True):
    value = self.pop(key)
    if last:
        self[key] = value
        return
    items = list(self.items())
    self.clear()
    self[key] = value
    self.update(dict(items))


def popitem(self, last=True):
    if len(self) == 0:
        raise KeyError("popitem(): dictionary is empty")
    key = list(self)[-1 if last else 0]
    return key, self.pop(key)
