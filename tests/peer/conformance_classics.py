"""Classic models besides those of torchvision: the four word-level language models, generator and
discriminator of DCGAN, super resolution. Cases have the form of conformance_models.py."""
import math

import torch
from torch import nn

from conformance_models import BATCH, BOTH, arguments, case, keep

WORDS, WIDTH, HIDDEN, LAYERS = 50, 12, 16, 2
TIME_AND_BATCH = {"in_0": {"0": "time", "1": "batch"}}


def tokens(time, batch):
    return torch.randint(WORDS, (time, batch))


# ---- word language models ---------------------------------------------------------------


class WordRecurrent(nn.Module):
    """Maps words to the scores of the next word, with the state of the recurrent layers."""

    def __init__(self, kind):
        super().__init__()
        self.encoder = nn.Embedding(WORDS, WIDTH)
        self.drop = nn.Dropout(0.5)
        self.rnn = kind(WIDTH, HIDDEN, LAYERS, dropout=0.5)
        self.decoder = nn.Linear(HIDDEN, WORDS)
        self.n_words = WORDS

    def scores(self, output):
        decoded = self.decoder(self.drop(output)).view(-1, self.n_words)
        return torch.log_softmax(decoded, dim=1)


class WordLSTM(WordRecurrent):
    def forward(self, words, hidden, cell):
        output, state = self.rnn(self.drop(self.encoder(words)), (hidden, cell))
        return self.scores(output), state[0], state[1]


class WordGRU(WordRecurrent):
    def forward(self, words, hidden):
        output, hidden = self.rnn(self.drop(self.encoder(words)), hidden)
        return self.scores(output), hidden


def recurrent(name, make, n_states):
    """A case of a recurrent word model: 5 words of 2 texts, then 7 words of 3."""
    axes = dict(TIME_AND_BATCH, **{f"in_{i + 1}": {"1": "batch"} for i in range(n_states)})

    def sets():
        return [[tokens(time, batch)] + [torch.randn(LAYERS, batch, HIDDEN)
                                         for _ in range(n_states)]
                for time, batch in ((5, 2), (7, 3))]
    keep(name, lambda: (make(), sets(), axes), BOTH)


recurrent("word_lstm", lambda: WordLSTM(nn.LSTM), 2)
recurrent("word_gru", lambda: WordGRU(nn.GRU), 1)
recurrent("word_rnn_tanh", lambda: WordGRU(nn.RNN), 1)
recurrent("word_rnn_relu", lambda: WordGRU(lambda *sizes, **options: nn.RNN(
    *sizes, nonlinearity="relu", **options)), 1)


class Positions(nn.Module):
    """Adds the position of a word to its embedding."""

    def __init__(self, longest=64):
        super().__init__()
        self.dropout = nn.Dropout(0.1)
        steps = torch.arange(longest).unsqueeze(1)
        rates = torch.exp(torch.arange(0, WIDTH, 2) * (-math.log(10000.0) / WIDTH))
        table = torch.zeros(longest, 1, WIDTH)
        table[:, 0, 0::2] = torch.sin(steps * rates)
        table[:, 0, 1::2] = torch.cos(steps * rates)
        self.register_buffer("table", table)

    def forward(self, x):
        return self.dropout(x + self.table[:x.size(0)])


@arguments(lambda: [tokens(5, 2)], lambda: [tokens(5, 3)], axes={"in_0": {"1": "batch"}},
           kinds=BOTH)
class word_transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(WORDS, WIDTH)
        self.positions = Positions()
        layer = nn.TransformerEncoderLayer(WIDTH, 3, HIDDEN, 0.1)
        self.layers = nn.TransformerEncoder(layer, LAYERS)
        self.decoder = nn.Linear(WIDTH, WORDS)
        self.scale = math.sqrt(WIDTH)

    def forward(self, words):
        n = words.size(0)
        mask = torch.triu(torch.full([n, n], float("-inf")), diagonal=1)
        x = self.positions(self.embedding(words) * self.scale)
        return torch.log_softmax(self.decoder(self.layers(x, mask)), dim=-1)


# ---- images ----------------------------------------------------------------------------


@case([2, 20, 1, 1], axes=BATCH, others=[[3, 20, 1, 1]], kinds=BOTH)
class dcgan_generator(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        sizes, layers = (20, 8 * width, 4 * width, 2 * width, width), []
        for i, (before, after) in enumerate(zip(sizes, sizes[1:])):
            step = (1, 0) if i == 0 else (2, 1)
            layers += [nn.ConvTranspose2d(before, after, 4, *step, bias=False),
                       nn.BatchNorm2d(after), nn.ReLU(True)]
        layers += [nn.ConvTranspose2d(width, 3, 4, 2, 1, bias=False), nn.Tanh()]
        self.main = nn.Sequential(*layers)

    def forward(self, x):
        return self.main(x)


@case([2, 3, 64, 64], axes=BATCH, others=[[3, 3, 64, 64]], kinds=BOTH)
class dcgan_discriminator(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        layers = [nn.Conv2d(3, width, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, True)]
        for i in range(3):
            layers += [nn.Conv2d(width << i, width << (i + 1), 4, 2, 1, bias=False),
                       nn.BatchNorm2d(width << (i + 1)), nn.LeakyReLU(0.2, True)]
        self.main = nn.Sequential(*layers, nn.Conv2d(8 * width, 1, 4, 1, 0, bias=False),
                                  nn.Sigmoid())

    def forward(self, x):
        return self.main(x).view(-1, 1).squeeze(1)


@case([2, 1, 24, 20], axes={"in_0": {"0": "batch", "2": "height", "3": "width"}},
      others=[[3, 1, 17, 31]], kinds=BOTH)
class super_resolution(nn.Module):
    def __init__(self, factor=3):
        super().__init__()
        self.relu = nn.ReLU()
        self.conv1 = nn.Conv2d(1, 64, 5, 1, 2)
        self.conv2 = nn.Conv2d(64, 64, 3, 1, 1)
        self.conv3 = nn.Conv2d(64, 32, 3, 1, 1)
        self.conv4 = nn.Conv2d(32, factor ** 2, 3, 1, 1)
        self.shuffle = nn.PixelShuffle(factor)

    def forward(self, x):
        x = self.relu(self.conv1(x))
        x = self.relu(self.conv2(x))
        x = self.relu(self.conv3(x))
        return self.shuffle(self.conv4(x))
