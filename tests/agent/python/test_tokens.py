# SPDX-License-Identifier: Apache-2.0
"""Tests the hooks on tokenizers with fake packages that have the names of the real ones."""
import unittest

from fake_packages import Checked, run


class TokenizerTest(Checked):
    def test_text_to_tokens_is_a_stage_of_its_own(self):
        result = run(
            {
                "tokenizers/tokenizers.py": """
class Tokenizer:
    def encode(self, text, pair=None):
        return text.split()
    def encode_batch(self, texts):
        return [text.split() for text in texts]
    def decode(self, ids):
        return ids
""",
                "transformers/tokenization_utils_base.py": """
from tokenizers.tokenizers import Tokenizer
class PreTrainedTokenizerBase:
    def __call__(self, texts):
        return Tokenizer().encode_batch(texts)
""",
                "sentencepiece.py": """
class SentencePieceProcessor:
    def Encode(self, text):
        return text.split()
    def EncodeAsIds(self, text):
        return self.Encode(text)
""",
            },
            """
            from tokenizers.tokenizers import Tokenizer
            from transformers.tokenization_utils_base import PreTrainedTokenizerBase
            from sentencepiece import SentencePieceProcessor
            print(Tokenizer().encode("a b", pair=None), Tokenizer().decode("c"))
            print(PreTrainedTokenizerBase()(["d e", "f"]), SentencePieceProcessor().EncodeAsIds("g"))
            """,
        )
        self.assertEqual(
            self.check(result),
            {("tokenize", "tokenizers.encode"): 1, ("tokenize", "transformers.call"): 1,
             ("tokenize", "tokenizers.encode_batch"): 1, ("tokenize", "sentencepiece.EncodeAsIds"): 1,
             ("tokenize", "sentencepiece.Encode"): 1},
        )  # fmt: skip
        self.assertEqual(result.out, "['a', 'b'] c\n[['d', 'e'], ['f']] ['g']\n")

    def test_a_batch_in_a_pool_of_threads_is_one_call(self):
        result = run(
            {
                "tiktoken/core.py": """
from concurrent.futures import ThreadPoolExecutor
class Encoding:
    def encode(self, text):
        return list(text)
    def encode_batch(self, texts):
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(self.encode, texts))
"""
            },
            "from tiktoken.core import Encoding\nEncoding().encode('a')\nprint(Encoding().encode_batch(['bc', 'd']))\n",
        )
        self.assertEqual(self.check(result), {("tokenize", "tiktoken.encode"): 1, ("tokenize", "tiktoken.encode_batch"): 1})
        self.assertEqual(result.out, "[['b', 'c'], ['d']]\n")


if __name__ == "__main__":
    unittest.main()
