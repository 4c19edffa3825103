# A complete suite, as a good student would write it: it kills every graded mutant.
import math

import numpy as np
import pytest
from tinyllm import PCG32, Tensor, gradcheck
from tinyllm.xfmr.mha import MultiHeadAttention


def make(d_model=8, n_heads=2, seed=1, **options):
    """A module in eval mode with float64 parameters, and its state."""
    module = MultiHeadAttention(d_model, n_heads, rng=PCG32(seed), **options)
    state = {name: values.astype(np.float64) for name, values in module.state_dict().items()}
    module.load_state_dict(state)
    module.eval()
    return module, state


def draw(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def oracle(state, heads, x_q, x_kv, seen):
    """attend, written again: seen is [B, H, Tq, Tk]."""
    dh = x_q.shape[-1] // heads
    output, weights = [], []
    for b in range(len(x_q)):
        q = x_q[b] @ state["q_proj.weight"].T + state["q_proj.bias"]
        k = x_kv[b] @ state["k_proj.weight"].T + state["k_proj.bias"]
        v = x_kv[b] @ state["v_proj.weight"].T + state["v_proj.bias"]
        context, own = [], []
        for h in range(heads):
            s = slice(h * dh, (h + 1) * dh)
            scores = q[:, s] @ k[:, s].T / math.sqrt(dh)
            p = np.exp(scores - scores.max(axis=-1, keepdims=True)) * seen[b, h]
            total = p.sum(axis=-1, keepdims=True)
            p = p / np.where(total == 0, 1, total)
            own.append(p)
            context.append(p @ v[:, s])
        merged = np.concatenate(context, axis=-1)
        output.append(merged @ state["out_proj.weight"].T + state["out_proj.bias"])
        weights.append(own)
    return np.array(output), np.array(weights)


def assert_agrees(module, state, heads, x_q, x_kv, mask=None, seen=None):
    shape = (len(x_q), heads, x_q.shape[1], x_kv.shape[1])
    seen = np.broadcast_to(True if seen is None else seen, shape)
    output, weights = module.attend(Tensor(x_q), Tensor(x_kv), mask)
    right_output, right_weights = oracle(state, heads, x_q, x_kv, seen)
    assert output.shape == right_output.shape
    assert weights.shape == right_weights.shape
    np.testing.assert_allclose(weights.data, right_weights, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(output.data, right_output, rtol=1e-9, atol=1e-12)


# --- against a second implementation


@pytest.mark.parametrize("heads", [1, 2, 4, 8])
def test_self_attention_agrees_with_the_oracle(heads):
    module, state = make(8, heads)
    x = draw(3, 5, 8)
    assert_agrees(module, state, heads, x, x)


@pytest.mark.parametrize("lengths", [(3, 5), (4, 4), (5, 2)])
def test_cross_attention_agrees_with_the_oracle(lengths):
    module, state = make(12, 3)
    x_q, x_kv = draw(2, lengths[0], 12, seed=1), draw(2, lengths[1], 12, seed=2)
    assert_agrees(module, state, 3, x_q, x_kv)


def test_causal_mask_agrees_with_the_oracle():
    module, state = make()
    x = draw(3, 4, 8)
    causal = np.tri(4, dtype=bool)
    assert_agrees(module, state, 2, x, x, causal, causal)


def test_padding_mask_agrees_with_the_oracle():
    module, state = make()
    padding = np.array([[1, 1, 1, 0], [1, 1, 0, 0], [1, 1, 1, 1]], dtype=bool)[:, None, None]
    assert_agrees(module, state, 2, draw(3, 2, 8), draw(3, 4, 8, seed=1), padding, padding)


def test_mask_of_each_sequence_with_as_many_heads_as_sequences():
    module, state = make()
    mask = np.array([[[1, 1, 0], [0, 1, 1]], [[1, 0, 0], [1, 0, 1]]], dtype=bool)
    x_q, x_kv = draw(2, 2, 8), draw(2, 3, 8, seed=1)
    assert_agrees(module, state, 2, x_q, x_kv, mask, mask[:, None])


def test_row_that_sees_nothing_is_zero():
    module, state = make()
    mask = np.ones((2, 1, 3, 4), dtype=bool)
    mask[1, 0, 2] = False
    x_q, x_kv = draw(2, 3, 8), draw(2, 4, 8, seed=1)
    assert_agrees(module, state, 2, x_q, x_kv, mask, mask)
    _, weights = module.attend(Tensor(x_q), Tensor(x_kv), mask)
    assert (weights.data[1, :, 2] == 0).all()


# --- the worked numbers


def hand_example(heads):
    module, state = make(4, heads)
    for name in state:
        state[name] = np.eye(4) if name.endswith("weight") else np.zeros(4)
    module.load_state_dict(state)
    x_q = np.array([[[1.0, 0, 0, 2]]])
    x_kv = np.array([[[1.0, 0, 0, 0], [0, 1, 0, 2]]])
    return [each.data for each in module.attend(Tensor(x_q), Tensor(x_kv))]


def test_worked_numbers_with_two_heads():
    output, weights = hand_example(2)
    right = [[[0.669762, 0.330238]], [[0.055807, 0.944193]]]
    np.testing.assert_allclose(weights[0], right, atol=1e-6)
    np.testing.assert_allclose(output[0, 0], [0.669762, 0.330238, 0, 1.888386], atol=1e-6)


def test_worked_numbers_with_one_head():
    output, weights = hand_example(1)
    np.testing.assert_allclose(weights[0, 0, 0], [0.182426, 0.817574], atol=1e-6)
    np.testing.assert_allclose(output[0, 0], [0.182426, 0.817574, 0, 1.635149], atol=1e-6)


# --- layout


def test_split_gives_each_head_its_slice():
    module, _ = make(12, 3)
    x = draw(2, 5, 12)
    heads = module.split_heads(Tensor(x))
    assert heads.shape == (2, 3, 5, 4)
    for h in range(3):
        assert (heads.data[:, h] == x[:, :, 4 * h : 4 * h + 4]).all()


def test_merge_puts_heads_side_by_side():
    module, _ = make(12, 3)
    heads = draw(2, 3, 5, 4)
    merged = module.merge_heads(Tensor(heads))
    assert merged.shape == (2, 5, 12)
    for h in range(3):
        assert (merged.data[:, :, 4 * h : 4 * h + 4] == heads[:, h]).all()


# --- dropout


def test_eval_drops_nothing():
    plain, _ = make()
    module, _ = make(dropout=0.5)
    x = Tensor(draw(2, 6, 8))
    first, second = module(x, x), module(x, x)
    assert (first.data == second.data).all()
    np.testing.assert_allclose(first.data, plain(x, x).data)


def test_training_drops():
    module, _ = make(dropout=0.5)
    x = Tensor(draw(2, 6, 8))
    right = module(x, x).data
    module.train()
    assert not np.allclose(module(x, x).data, right)


# --- packed weights


def test_packed_rows_are_q_k_v():
    module, state = make()
    weight, bias = draw(24, 8), draw(24, seed=1)
    module.load_packed_in_proj(weight, bias)
    after = module.state_dict()
    for part, name in enumerate("qkv"):
        rows = slice(8 * part, 8 * part + 8)
        np.testing.assert_allclose(after[f"{name}_proj.weight"], weight[rows], rtol=1e-6)
        np.testing.assert_allclose(after[f"{name}_proj.bias"], bias[rows], rtol=1e-6)
    assert (after["out_proj.weight"] == state["out_proj.weight"]).all()


# --- gradients


def test_gradients_agree_with_differences():
    module, _ = make(4, 2)
    mask = np.array([[1, 0, 1], [1, 1, 0]], dtype=bool)
    inputs = [Tensor(draw(1, t, 4, seed=t), requires_grad=True) for t in (2, 3)]
    assert gradcheck(lambda x_q, x_kv, *_: module(x_q, x_kv, mask), [*inputs, *module.parameters()])


# --- parameters and refusals


def test_parameters_have_their_names_and_follow_the_seed():
    _, state = make()
    names = [f"{p}_proj.{part}" for p in ("q", "k", "v", "out") for part in ("weight", "bias")]
    assert list(state) == names
    _, again = make()
    _, other = make(seed=2)
    for name in names:
        assert (again[name] == state[name]).all()
        assert (other[name] != state[name]).any()


@pytest.mark.parametrize("heads", [3, 0, 16])
def test_heads_must_tile_the_width(heads):
    with pytest.raises(ValueError, match="n_heads"):
        MultiHeadAttention(8, heads)


def test_mask_of_numbers_is_refused():
    module, _ = make()
    x = Tensor(draw(2, 3, 8))
    with pytest.raises(TypeError):
        module.attend(x, x, np.ones((3, 3)))


def test_wrong_shapes_are_refused():
    module, _ = make()
    x = Tensor(draw(2, 3, 8))
    for wrong in (Tensor(draw(3, 8)), Tensor(draw(2, 3, 6)), Tensor(draw(3, 3, 8))):
        with pytest.raises(ValueError, match="x_"):
            module.attend(x, wrong)
    with pytest.raises(ValueError, match="mask"):
        module.attend(x, x, np.ones((2, 4), dtype=bool))
