"""Packed and padded sequences."""
from collections import namedtuple

import torch

_PackedSequence = namedtuple("PackedSequence",
                             ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])


class PackedSequence(_PackedSequence):
    """The elements of several sequences by time step, and how many sequences each step has."""

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        return PackedSequence(self.data.to(*args, **kwargs), self.batch_sizes,
                              self.sorted_indices, self.unsorted_indices)

    def cuda(self, *args, **kwargs):
        return self

    def cpu(self, *args, **kwargs):
        return self

    @property
    def is_cuda(self):
        return False


def invert_permutation(permutation):
    if permutation is None:
        return None
    places = torch.arange(0, permutation.numel())
    return torch.empty_like(permutation).scatter_(0, permutation, places)


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    if not torch.is_tensor(lengths):
        lengths = torch.tensor(lengths, dtype=torch.int64)
    sorted_indices = None
    if not enforce_sorted:
        lengths, sorted_indices = torch.sort(lengths, descending=True)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    data, sizes = torch.ops.aten._pack_padded_sequence(input, lengths, batch_first)
    return PackedSequence(data, sizes, sorted_indices, None)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    length = sequence.batch_sizes.size(0) if total_length is None else total_length
    padded, lengths = torch.ops.aten._pad_packed_sequence(
        sequence.data, sequence.batch_sizes, batch_first, padding_value, length)
    back = sequence.unsorted_indices
    if back is None:
        return padded, lengths
    return padded.index_select(0 if batch_first else 1, back), lengths[back]


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    if torch.is_tensor(sequences):
        sequences = sequences.unbind(0)
    return torch.ops.aten.pad_sequence(sequences, batch_first, padding_value, padding_side)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [s[:n] for s, n in zip(padded_sequences, lengths)]


def pack_sequence(sequences, enforce_sorted=True):
    lengths = torch.tensor([s.size(0) for s in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
