"""Train with soft F as the loss and soft scores as metrics, by Lightning, on simulated soft labels.

python docs/examples/train_with_lightning.py

Needs `pip install '.[torchmetrics]' lightning` in a checkout. Runs in seconds on a CPU.
"""

from __future__ import annotations

import sys

import lightning
import torch
from torchmetrics import MetricCollection

from sedeval_soft.apps.training.torch import SoftFLoss
from sedeval_soft.apps.training.torchmetrics import SoftErrorRate, SoftFBeta, SoftKLDivergence

CLASSES, FEATURES, SEGMENTS = 4, 8, 50
Batch = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


class Detector(lightning.LightningModule):
    """A network of two layers that sees every segment by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.network = torch.nn.Sequential(
            torch.nn.Linear(FEATURES, 32), torch.nn.ReLU(), torch.nn.Linear(32, CLASSES)
        )
        self.loss = SoftFLoss(from_logits=True)
        # Both F are made of the same counts: the collection counts once for both.
        self.metrics = MetricCollection(
            {
                "f1_macro": SoftFBeta(CLASSES, from_logits=True),
                "f1_micro": SoftFBeta(CLASSES, average="micro", from_logits=True),
                "error_rate": SoftErrorRate(CLASSES, from_logits=True),
                "divergence": SoftKLDivergence(CLASSES, from_logits=True),
            }
        )

    def training_step(self, batch: Batch, _: int) -> torch.Tensor:
        """Return the loss of a batch; segments of padding do not count."""
        features, target, mask = batch
        return self.loss(self.network(features), target, mask)

    def validation_step(self, batch: Batch, _: int) -> None:
        """Count a batch. Lightning sums counts over processes, and resets them after each epoch."""
        features, target, mask = batch
        self.metrics.update(self.network(features), target, mask)

    def on_validation_epoch_end(self) -> None:
        """Log the scores of the whole epoch: not means of scores of batches, which are something else."""
        self.log_dict({name: value.float() for name, value in self.metrics.compute().items()})
        self.metrics.reset()

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return the optimizer."""
        return torch.optim.Adam(self.parameters(), lr=0.01)


def simulated(recordings: int, seed: int) -> torch.utils.data.TensorDataset:
    """Return features, soft labels that they tell of, and which segments are no padding."""
    generator = torch.Generator().manual_seed(seed)
    features = torch.randn(recordings, SEGMENTS, FEATURES, generator=generator)
    mixing = torch.randn(FEATURES, CLASSES, generator=torch.Generator().manual_seed(0))
    target = torch.sigmoid(features @ mixing - 2)
    lengths = torch.randint(SEGMENTS // 2, SEGMENTS + 1, (recordings, 1), generator=generator)
    return torch.utils.data.TensorDataset(features, target, torch.arange(SEGMENTS) < lengths)


def main(epochs: int = 8) -> tuple[dict[str, float], dict[str, float]]:
    """Train; return the scores before and after."""
    lightning.seed_everything(0, verbose=False)
    train = torch.utils.data.DataLoader(simulated(64, 1), batch_size=8, shuffle=True)
    validation = torch.utils.data.DataLoader(simulated(16, 2), batch_size=8)
    trainer = lightning.Trainer(
        accelerator="cpu",
        max_epochs=epochs,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    model = Detector()
    (before,) = trainer.validate(model, validation, verbose=False)
    trainer.fit(model, train, validation)
    (after,) = trainer.validate(model, validation, verbose=False)
    return before, after


if __name__ == "__main__":
    before, after = main()
    for name, value in after.items():
        sys.stdout.write(f"{name}: {before[name]:.4f} before, {value:.4f} after training\n")
