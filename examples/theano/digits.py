"""Handwritten digits as shared variables: training and test images of 8 x 8 pixels between 0 and 1, and labels."""

import pathlib

import numpy as np
import theano
import theano.tensor as T

FILE = pathlib.Path(__file__).resolve().parents[2] / "arignote" / "data" / "digits.npz"


def load():
    """Arrays: training images, training labels, test images, test labels; the last 360 are the test set."""
    with np.load(FILE) as data:
        images, labels = data[data.files[0]], data[data.files[1]]
    images = images.reshape(len(images), -1).astype("float64") / images.max()
    return images[:-360], labels[:-360], images[-360:], labels[-360:]


def shared():
    """((training images, labels), (test images, labels)): images of floatX, labels cast to int32."""
    x, y, x_test, y_test = load()

    def pair(images, labels):
        kept = theano.shared(np.asarray(images, dtype=theano.config.floatX), borrow=True)
        return kept, T.cast(theano.shared(np.asarray(labels, dtype=theano.config.floatX), borrow=True), "int32")

    return pair(x, y), pair(x_test, y_test)
