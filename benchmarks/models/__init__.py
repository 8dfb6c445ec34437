"""Whole networks: ONNX models, text generation, training steps, serving of many callers, stored weights."""
