"""The trained agent: a policy and a value network, both small, and the scale of their inputs."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn
from torch.distributions import Independent, Normal


class RunningScale(nn.Module):
    """Mean and variance (size,) of all rows seen (Chan, Golub, LeVeque 1983)."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(size, dtype=torch.float64))
        self.register_buffer("variance", torch.ones(size, dtype=torch.float64))
        self.register_buffer("count", torch.zeros((), dtype=torch.float64))

    def add(self, count: Tensor, mean: Tensor, variance: Tensor) -> None:
        """Adds `count` rows of this mean and (biased) variance."""
        total = self.count + count
        apart = mean - self.mean
        squares = self.variance * self.count + variance * count
        squares += apart**2 * self.count * count / total
        self.mean += apart * count / total
        self.variance.copy_(squares / total)
        self.count.copy_(total)

    @property
    def deviation(self) -> Tensor:
        return torch.sqrt(self.variance + 1e-8)

    def forward(self, rows: Tensor) -> Tensor:
        """(N, size) float32, centred, scaled, within ±10."""
        return ((rows - self.mean) / self.deviation).clamp(-10, 10).float()


def network(inputs: int, hidden: tuple[int, ...], outputs: int, last_gain: float) -> nn.Sequential:
    """tanh between layers; orthogonal weights, small ones in the last (Huang et al. 2022)."""
    sizes, layers = [inputs, *hidden], []
    for before, after in itertools.pairwise(sizes):
        layers += [_linear(before, after, 2**0.5), nn.Tanh()]
    return nn.Sequential(*layers, _linear(sizes[-1], outputs, last_gain))


def _linear(inputs: int, outputs: int, gain: float) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain)
    nn.init.zeros_(layer.bias)
    return layer


class Agent(nn.Module):
    """Actions are normally distributed around the network's output, with trained deviations that
    do not depend on the observation.

    Args:
        observations, actions: sizes.
        hidden: sizes of the hidden layers, of both networks.
    """

    def __init__(self, observations: int, actions: int, hidden: tuple[int, ...]) -> None:
        super().__init__()
        self.scale = RunningScale(observations)
        self.return_scale = RunningScale(1)
        self.mean = network(observations, hidden, actions, 0.01)
        self.log_deviation = nn.Parameter(torch.zeros(actions))
        self.value = network(observations, hidden, 1, 1.0)

    def distribution(self, seen: Tensor) -> Independent:
        """Of actions (N, actions), for scaled observations."""
        deviation = self.log_deviation.exp().expand(len(seen), -1)
        return Independent(Normal(self.mean(seen), deviation, validate_args=False), 1)

    def values(self, seen: Tensor) -> Tensor:
        """(N,) expected returns, for scaled observations."""
        return self.value(seen).squeeze(1)

    @torch.no_grad()
    def best_action(self, observations: Tensor) -> Tensor:
        """(N, actions), without noise, for unscaled observations."""
        return self.mean(self.scale(observations))
