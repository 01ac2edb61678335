"""torch.utils.data: classes that model files extend; loading data is not a part of an export."""


class Dataset:
    def __getitem__(self, index):
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")


class IterableDataset(Dataset):
    pass


class Sampler:
    pass


class DataLoader:
    def __init__(self, *args, **kwargs):
        raise NotImplementedError("torch.utils.data.DataLoader is not implemented")


class TensorDataset(Dataset):
    def __init__(self, *tensors):
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(t[index] for t in self.tensors)

    def __len__(self):
        return self.tensors[0].size(0)
