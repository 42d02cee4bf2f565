using System;
using System.Collections.Generic;
using System.Linq;

namespace LatchkeyClient
{
    using Fields = Dictionary<string, object>;

    /// <summary>The vectors of the conformance run, signatures, JSON, and answers.</summary>
    internal static class RulesTests
    {
        internal static void AddTo(Suite suite)
        {
            suite.Test("tokens have their verdicts", () =>
            {
                foreach (Fields each in World.Vectors("tokens"))
                {
                    string verdict = Tokens.Verify(Json.Text(each, "token"), TrustOf(each), Json.Integer(each, "now_ms").Value, Json.Text(each, "nonce"));
                    Suite.Equal(each["name"] + ": " + verdict, each["name"] + ": " + each["verdict"]);
                }
            });
            suite.Test("typed keys have their readings", () =>
            {
                foreach (Fields each in World.Vectors("keys"))
                {
                    TypedKey read = TypedKey.Read(Json.Text(each, "text"));
                    Suite.Equal(read.Verdict, each["verdict"]);
                    if (each["key"] != null) Suite.Equal(read.Key, each["key"]);
                }
            });
            suite.Test("clocks have their times", () => World.Vectors("clocks").ForEach(PlayClock));
            suite.Test("signatures of RFC 8032 are accepted, and none with a changed bit", VerifySignatures);
            suite.Test("JSON is written as it was read", () =>
            {
                string[] texts = { "{}", "[]", "{\"a\":[1,-2.5,true,false,null,\"x\\\"\\\\\\u000a\"]}", "[[],{}]", "\"\\ud83d\\ude00é\"", "1E+22" };
                foreach (string text in texts) Suite.Equal(Json.Write(Json.Parse(text)), text);
            });
            suite.Test("what is no JSON is refused", () =>
            {
                string[] texts =
                {
                    "", "{", "[1,]", "{\"a\":1,}", "{a:1}", "01", "1.", "+1", "nul", "'a'", "\"\\x\"", "\"\n\"", "[1] 2", "\"\\u00g0\"", "\uFEFF1",
                    "\"a", "[1 2]", "{\"a\" 1}", "-", "1e", "\"\\u12\"", new string('[', 100000),
                };
                foreach (string text in texts) Suite.Equal(Json.Parse(text), null);
            });
            suite.Test("a time that the service asks to wait is limited, and must be seconds", () =>
            {
                string[] headers = { "120", "999999999", "-1", "Fri, 31 Dec 2027 23:59:59 GMT", "1e3", null };
                long[] expected = { 120000, 86400000, 0, 0, 0, 0 };
                Suite.Equal(headers.Select(each => Answer.Of(new Received { Status = 503, RetryAfter = each }).RetryAfterMs), expected);
            });
            suite.Test("a refusal needs a code, and the type of a problem or its status", () =>
            {
                const string Body = "{\"code\":\"license_revoked\",\"status\":403}";
                Suite.Equal(Answer.Of(new Received { Status = 403, Body = Body }).Code, "license_revoked");
                Suite.Equal(Answer.Of(new Received { Status = 404, Body = Body }).Cause, Cause.Portal);
                Received typed = new Received { Status = 404, Body = Body, ContentType = "application/problem+json; charset=utf-8" };
                Suite.Equal(Answer.Of(typed).Code, "license_revoked");
            });
        }

        private static Trust TrustOf(Fields vector)
        {
            return new Trust
            {
                Keys = Tokens.ReadKeys(vector["public_keys"]), Issuer = Json.Text(vector, "issuer"),
                Products = Json.Texts(vector["products"]), MachineId = Json.Text(vector, "machine_id"),
            };
        }

        private static void PlayClock(Fields vector)
        {
            Clock clock = new Clock(0, 0);
            List<object> steps = (List<object>)vector["steps"], expected = (List<object>)vector["expected"];
            for (int i = 0; i < steps.Count; i++)
            {
                long deviceMs = Json.Integer(steps[i], "device_ms").Value;
                long? serviceMs = Json.Integer(steps[i], "service_ms");
                if (serviceMs != null) clock = clock.Learn(deviceMs, serviceMs.Value);
                Suite.Equal(clock.Now(deviceMs), Json.Integer(expected[i], "now_ms"));
                Suite.Equal(clock.WentBack(deviceMs), Json.IsTrue(expected[i], "clock_went_back"));
            }
        }

        /// <summary>Public key, message and signature of section 7.1.</summary>
        private static readonly string[][] Rfc8032 =
        {
            new[]
            {
                "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
                "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
            },
            new[]
            {
                "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
                "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
            },
            new[]
            {
                "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
                "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
            },
        };

        private static void VerifySignatures()
        {
            foreach (string[] each in Rfc8032)
            {
                byte[] key = FromHex(each[0]), data = FromHex(each[1]), signature = FromHex(each[2]);
                Suite.Equal(Ed25519.Verify(key, data, signature), true);
                Suite.Equal(Ed25519.Verify(key, data.Concat(new byte[] { 0 }).ToArray(), signature), false);
                for (int bit = 0; bit < 512; bit += 7)
                {
                    byte[] changed = (byte[])signature.Clone();
                    changed[bit / 8] ^= (byte)(1 << (bit % 8));
                    Suite.IsTrue(!Ed25519.Verify(key, data, changed), "accepted with another bit " + bit);
                }
            }
        }

        private static byte[] FromHex(string hex)
        {
            return Enumerable.Range(0, hex.Length / 2).Select(i => Convert.ToByte(hex.Substring(2 * i, 2), 16)).ToArray();
        }
    }
}
