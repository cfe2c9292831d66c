// SPDX-License-Identifier: Apache-2.0
//
// Command lines, and how they are recorded. Every secret here is invented.
#pragma once

#include <string>
#include <vector>

namespace penstock {

struct SecretCase {
  std::vector<std::string> words;
  std::vector<std::string> shown;
};

inline const std::vector<SecretCase>& SecretCases() {
  static const std::vector<SecretCase> cases = {
      // Options with the name of a secret. The value is the next word, or behind the "=".
      {{"train.py", "--token", "abc"}, {"train.py", "--token", "***"}},
      {{"t", "--password=x", "--epochs", "1"}, {"t", "--password=***", "--epochs", "1"}},
      {{"t", "--password=a b c"}, {"t", "--password=***"}},
      {{"t", "--api-key", "k", "--lr", "0.1"}, {"t", "--api-key", "***", "--lr", "0.1"}},
      {{"t", "--apiKey=k1"}, {"t", "--apiKey=***"}},
      {{"t", "--wandb_api_key", "0123"}, {"t", "--wandb_api_key", "***"}},
      {{"t", "--client-secret", "-leading-dash"}, {"t", "--client-secret", "***"}},
      {{"t", "--hf-token", "--verbose"}, {"t", "--hf-token", "--verbose"}},
      {{"t", "model.auth_token=z", "+logger.api_key=q"},
       {"t", "model.auth_token=***", "+logger.api_key=***"}},
      {{"curl", "-u", "me:pw", "https://example.com"},
       {"curl", "-u", "me:***", "https://example.com"}},
      {{"curl", "--user=me:pw"}, {"curl", "--user=me:***"}},
      {{"mysql", "--db-pass", "x"}, {"mysql", "--db-pass", "***"}},
      // Variables.
      {{"env", "HF_TOKEN=a", "AWS_SECRET_ACCESS_KEY=b", "MY_SECRET_THING=c", "DEPLOY_KEY=d", "ls"},
       {"env", "HF_TOKEN=***", "AWS_SECRET_ACCESS_KEY=***", "MY_SECRET_THING=***", "DEPLOY_KEY=***",
        "ls"}},
      {{"env", "MYSQL_PWD=a", "PWD=/tmp", "SENTRY_DSN=x"},
       {"env", "MYSQL_PWD=***", "PWD=/tmp", "SENTRY_DSN=***"}},
      // Inside a word, such as the text for a shell.
      {{"sh", "-c", "cd /data && X_TOKEN=abc python t.py --password 'a b' --n 3"},
       {"sh", "-c", "cd /data && X_TOKEN=*** python t.py --password '***' --n 3"}},
      {{"sh", "-c", "login --secret s3; run --token=t4|tee log"},
       {"sh", "-c", "login --secret ***; run --token=***|tee log"}},
      {{"t", "--config", R"({"api_key": "abc", "n": 3})"},
       {"t", "--config", R"({"api_key": "***", "n": 3})"}},
      {{"curl", "-H", "Authorization: Token abc def"}, {"curl", "-H", "Authorization: ***"}},
      {{"curl", "-H", "X-Api-Key: abc"}, {"curl", "-H", "X-Api-Key: ***"}},
      {{"t", "say Bearer abcdefgh12345 now"}, {"t", "say Bearer *** now"}},
      // Tokens with a known beginning.
      {{"t", "sk-proj-A1b2C3d4E5f6G7h8I9"}, {"t", "***"}},
      {{"t", "--x=hf_AbCdEfGhIjKlMnOpQr12"}, {"t", "--x=***"}},
      {{"t", "ghp_0123456789abcdef0123"}, {"t", "***"}},
      {{"t", "key AKIAABCDEFGHIJKLMNOP end"}, {"t", "key *** end"}},
      {{"t", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc"}, {"t", "***"}},
      {{"t", "xoxb-123456789012-abcdef"}, {"t", "***"}},
      // URLs.
      {{"t", "https://me:pw@example.com/x"}, {"t", "https://me:***@example.com/x"}},
      {{"t", "postgres://u:p@db:5432/n"}, {"t", "postgres://u:***@db:5432/n"}},
      {{"pip", "install", "git+https://abc123@github.com/a/b"},
       {"pip", "install", "git+https://***@github.com/a/b"}},
      {{"git", "clone", "ssh://git@github.com/a"}, {"git", "clone", "ssh://git@github.com/a"}},
      {{"t", "https://example.com/o.tar?X-Amz-Signature=ab&X-Amz-Date=1#top"},
       {"t", "https://example.com/o.tar?***#top"}},
      {{"t", "https://example.com/o.tar?page=3"}, {"t", "https://example.com/o.tar?page=3"}},
      {{"t", "https://example.com/api/webhooks/123/abc"},
       {"t", "https://example.com/api/webhooks/***"}},
      {{"t", "-----BEGIN RSA PRIVATE KEY-----\nabc"}, {"t", "***"}},
      // Words that look like secrets and are none.
      {{"python", "-u", "train.py", "--max_tokens", "5", "--tokenizer", "gpt2"},
       {"python", "-u", "train.py", "--max_tokens", "5", "--tokenizer", "gpt2"}},
      {{"t", "--eos-token", "</s>", "--pad_token=x", "--num-tokens", "3"},
       {"t", "--eos-token", "</s>", "--pad_token=x", "--num-tokens", "3"}},
      {{"t", "--sort-key", "name", "--password-file", "/run/p", "--no-auth", "x"},
       {"t", "--sort-key", "name", "--password-file", "/run/p", "--no-auth", "x"}},
      {{"docker", "run", "--user=1000:1000", "image"},
       {"docker", "run", "--user=1000:1000", "image"}},
      {{"t", "hf_hub_download_of_a_model", "sk-learn-pipeline-experiment", "basic training"},
       {"t", "hf_hub_download_of_a_model", "sk-learn-pipeline-experiment", "basic training"}},
      {{"t", "a:b", "c=d", "", "--", "-"}, {"t", "a:b", "c=d", "", "--", "-"}},
  };
  return cases;
}

}  // namespace penstock
