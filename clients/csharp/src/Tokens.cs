using System;
using System.Collections.Generic;
using System.Linq;
using System.Numerics;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

namespace LatchkeyClient
{
    using Fields = Dictionary<string, object>;

    /// <summary>What an entitlement must fit. Of two keys with the same id, the first one counts.</summary>
    internal sealed class Trust
    {
        internal IReadOnlyList<Fields> Keys { get; set; }
        internal string Issuer { get; set; }
        internal IReadOnlyList<string> Products { get; set; }
        internal string MachineId { get; set; }
    }

    /// <summary>The verdict about an entitlement; its claims if that is <c>ok</c>, else null.</summary>
    internal sealed class Reading
    {
        internal readonly string Verdict;
        internal readonly Fields Claims;

        internal Reading(string verdict, Fields claims = null)
        {
            Verdict = verdict;
            Claims = claims;
        }
    }

    /// <summary>Entitlements: JWS in compact form, signed with Ed25519.</summary>
    internal static class Tokens
    {
        internal static readonly Regex Pattern = new Regex(@"eyJ[A-Za-z0-9_-]+\.eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{86}");

        /// <summary>Verifies everything about an entitlement but its times and its nonce, so that the result stays true.</summary>
        internal static Reading Read(string token, Trust trust)
        {
            string[] parts = token.Split('.');
            if (parts.Length != 3) return new Reading("malformed");
            Fields header = ReadPart(parts[0]), claims = ReadPart(parts[1]);
            byte[] signature = Base64Url.Decode(parts[2]);
            if (signature == null || !IsWellFormed(header, claims)) return new Reading("malformed");
            if (Json.Text(header, "alg") != "EdDSA") return new Reading("algorithm");
            Fields key = trust.Keys.FirstOrDefault(each => Json.Text(each, "kid") == Json.Text(header, "kid"));
            if (key == null) return new Reading("unknown_key");
            byte[] signed = Encoding.UTF8.GetBytes(parts[0] + "." + parts[1]);
            if (!Ed25519.Verify(Base64Url.Decode(Json.Text(key, "x")), signed, signature)) return new Reading("signature");
            if (Json.Text(claims, "iss") != trust.Issuer) return new Reading("issuer");
            if (!trust.Products.Contains(Json.Text(claims, "aud"))) return new Reading("audience");
            bool isOurs = Json.Text(claims, "machine") == Hash(trust.MachineId);
            return isOurs ? new Reading("ok", claims) : new Reading("machine");
        }

        /// <summary>Verifies an entitlement at a time. The nonce is that of the open request of a machine without a connection, or null.</summary>
        internal static string Verify(string token, Trust trust, long nowMs, string nonce)
        {
            Reading reading = Read(token, trust);
            if (reading.Claims == null) return reading.Verdict;
            string problem = FindTimeProblem(reading.Claims, nowMs);
            if (problem != null) return problem;
            return nonce == null || nonce == Json.Text(reading.Claims, "nonce") ? "ok" : "nonce";
        }

        /// <summary>Returns <c>early</c>, <c>late</c> or null. A clock may be five minutes behind that of the service.</summary>
        internal static string FindTimeProblem(Fields claims, long nowMs)
        {
            if (nowMs < (Json.Integer(claims, "nbf").Value - 300) * 1000) return "early";
            return nowMs >= Json.Integer(claims, "exp").Value * 1000 ? "late" : null;
        }

        private static bool IsWellFormed(Fields header, Fields claims)
        {
            if (header == null || claims == null) return false;
            bool isKnown = Json.Text(header, "typ") == "entitlement+jwt" && Json.Text(header, "kid") != null && !header.ContainsKey("crit");
            return isKnown && new[] { "iat", "nbf", "exp" }.All(each => Json.Integer(claims, each) != null);
        }

        private static readonly Encoding StrictUtf8 = new UTF8Encoding(false, true);

        /// <summary>Returns the JSON object of a part; null if it is none.</summary>
        private static Fields ReadPart(string part)
        {
            byte[] bytes = Base64Url.Decode(part);
            try
            {
                return bytes == null ? null : Json.Parse(StrictUtf8.GetString(bytes)) as Fields;
            }
            catch (ArgumentException)
            {
                // No UTF-8, and so no JSON.
                return null;
            }
        }

        /// <summary>Reads the Ed25519 keys of a list and ignores its other members.</summary>
        internal static List<Fields> ReadKeys(object list)
        {
            return (list as List<object> ?? new List<object>()).OfType<Fields>().Where(IsPublicKey).ToList();
        }

        private static bool IsPublicKey(Fields key)
        {
            string x = Json.Text(key, "x");
            bool isEd25519 = Json.Text(key, "kty") == "OKP" && Json.Text(key, "crv") == "Ed25519" && Json.Text(key, "kid") != null;
            return isEd25519 && x != null && Base64Url.Decode(x)?.Length == 32;
        }

        /// <summary>Returns the base64url SHA-256 of a text.</summary>
        internal static string Hash(string text)
        {
            using (SHA256 sha256 = SHA256.Create()) return Base64Url.Encode(sha256.ComputeHash(Encoding.UTF8.GetBytes(text)));
        }
    }

    /// <summary>Base64url without padding (RFC 4648, section 5).</summary>
    internal static class Base64Url
    {
        private static readonly Regex Symbols = new Regex(@"\A[A-Za-z0-9_-]+\z");

        internal static string Encode(byte[] bytes)
        {
            return Convert.ToBase64String(bytes).TrimEnd('=').Replace('+', '-').Replace('/', '_');
        }

        /// <summary>Returns null unless encoding the bytes again results in the same text.</summary>
        internal static byte[] Decode(string text)
        {
            if (!Symbols.IsMatch(text) || text.Length % 4 == 1) return null;
            string padding = new string('=', (4 - text.Length % 4) % 4);
            byte[] bytes = Convert.FromBase64String(text.Replace('-', '+').Replace('_', '/') + padding);
            return Encode(bytes) == text ? bytes : null;
        }
    }

    /// <summary>Verifies signatures of Ed25519 (RFC 8032, section 5.1.7). Nothing here is secret, so that it need not run in constant time.</summary>
    internal static class Ed25519
    {
        private static readonly BigInteger Order = BigInteger.Pow(2, 252) + BigInteger.Parse("27742317777372353535851937790883648493");
        private static readonly Number D = Number.FromHex("a3785913ca4deb75abd841414d0a700098e879777940c78c73fe6f2bee6c0352");
        private static readonly Number RootOfMinusOne = Number.FromHex("b0a00e4a271beec478e42fad0618432fa7d7fb3d99004d2b0bdfc14f8024832b");
        private static readonly Number TwiceD = D + D;
        private static readonly Point Identity = new Point(Number.Zero, Number.One);
        private static readonly Point Base = Decode(Number.FromHex("5866666666666666666666666666666666666666666666666666666666666666").ToBytes());

        internal static bool Verify(byte[] publicKey, byte[] data, byte[] signature)
        {
            if (publicKey.Length != 32 || signature.Length != 64) return false;
            byte[] r = signature.Take(32).ToArray();
            BigInteger s = ReadScalar(signature.Skip(32));
            Point a = Decode(publicKey);
            if (s >= Order || a == null || a.HasSmallOrder()) return false;
            using (SHA512 sha512 = SHA512.Create())
            {
                BigInteger k = ReadScalar(sha512.ComputeHash(r.Concat(publicKey).Concat(data).ToArray())) % Order;
                return MultiplyAndAdd(s, Base, k, a.Negate()).Encode().SequenceEqual(r);
            }
        }

        /// <summary>Returns m·P + n·Q, with the doublings of both at once.</summary>
        private static Point MultiplyAndAdd(BigInteger m, Point p, BigInteger n, Point q)
        {
            byte[] mBytes = m.ToByteArray(), nBytes = n.ToByteArray();
            Point sum = Identity;
            Point[] summands = { null, p, q, p.Add(q) };
            for (int i = 252; i >= 0; i--)
            {
                sum = sum.Double();
                int bits = Bit(mBytes, i) + 2 * Bit(nBytes, i);
                if (bits != 0) sum = sum.Add(summands[bits]);
            }
            return sum;
        }

        private static int Bit(byte[] bytes, int i)
        {
            return i / 8 < bytes.Length ? (bytes[i / 8] >> (i % 8)) & 1 : 0;
        }

        private static BigInteger ReadScalar(IEnumerable<byte> bytes)
        {
            return new BigInteger(bytes.Concat(new byte[] { 0 }).ToArray());
        }

        /// <summary>Returns the point of an encoding (section 5.1.3); null if that is not canonical, or encodes no point.</summary>
        private static Point Decode(byte[] encoded)
        {
            byte[] yBytes = (byte[])encoded.Clone();
            yBytes[31] &= 0x7f;
            Number y = new Number(yBytes), ySquared = y * y, u = ySquared - Number.One, v = D * ySquared + Number.One;
            if (!y.ToBytes().SequenceEqual(yBytes)) return null;
            Number vCubed = v * v * v, x = u * vCubed * (u * vCubed * vCubed * v).ToThePowerOfFiveEighths();
            if (!(v * x * x).Equals(u)) x = x * RootOfMinusOne;
            bool isOdd = encoded[31] >= 0x80;
            if (!(v * x * x).Equals(u) || (isOdd && x.Equals(Number.Zero))) return null;
            return new Point(x.IsOdd() == isOdd ? x : Number.Zero - x, y);
        }

        /// <summary>A point of the curve in extended coordinates (section 5.1.4).</summary>
        private sealed class Point
        {
            private readonly Number x, y, z, t;

            internal Point(Number x, Number y) : this(x, y, Number.One, x * y)
            {
            }

            private Point(Number x, Number y, Number z, Number t)
            {
                this.x = x;
                this.y = y;
                this.z = z;
                this.t = t;
            }

            internal Point Negate()
            {
                return new Point(Number.Zero - x, y, z, Number.Zero - t);
            }

            internal Point Add(Point other)
            {
                Number a = (y - x) * (other.y - other.x), b = (y + x) * (other.y + other.x), c = t * other.t * TwiceD, d = z * other.z;
                return Combine(b - a, d + d - c, d + d + c, b + a);
            }

            internal Point Double()
            {
                Number a = x * x, b = y * y, c = z * z, xy = x + y, h = a + b, g = a - b;
                return Combine(h - xy * xy, c + c + g, g, h);
            }

            private static Point Combine(Number e, Number f, Number g, Number h)
            {
                return new Point(e * f, g * h, f * g, e * h);
            }

            /// <summary>Whether eight times the point is the identity: a signature of such a key fits every message.</summary>
            internal bool HasSmallOrder()
            {
                Point eightfold = Double().Double().Double();
                return eightfold.x.Equals(Number.Zero) && eightfold.y.Equals(eightfold.z);
            }

            internal byte[] Encode()
            {
                Number inverse = z.Invert();
                byte[] bytes = (y * inverse).ToBytes();
                if ((x * inverse).IsOdd()) bytes[31] |= 0x80;
                return bytes;
            }
        }

        /// <summary>
        /// A number modulo 2^255 − 19, in 16 digits to the base 2^16, which may be larger or negative: several times as fast as
        /// <see cref="BigInteger"/>, and above all at the first use, which .NET compiles.
        /// </summary>
        private sealed class Number
        {
            internal static readonly Number Zero = new Number(new byte[32]);
            internal static readonly Number One = FromHex("01" + new string('0', 62));
            private readonly long[] digits;

            private Number(long[] digits)
            {
                this.digits = digits;
            }

            /// <summary>Reads 32 bytes in little-endian order.</summary>
            internal Number(byte[] bytes) : this(new long[16])
            {
                for (int i = 0; i < 16; i++) digits[i] = bytes[2 * i] + ((long)bytes[2 * i + 1] << 8);
            }

            internal static Number FromHex(string hex)
            {
                return new Number(Enumerable.Range(0, 32).Select(i => Convert.ToByte(hex.Substring(2 * i, 2), 16)).ToArray());
            }

            public static Number operator +(Number a, Number b)
            {
                long[] sum = new long[16];
                for (int i = 0; i < 16; i++) sum[i] = a.digits[i] + b.digits[i];
                return new Number(sum);
            }

            public static Number operator -(Number a, Number b)
            {
                long[] difference = new long[16];
                for (int i = 0; i < 16; i++) difference[i] = a.digits[i] - b.digits[i];
                return new Number(difference);
            }

            /// <summary>2^256 is 38 modulo the prime, so that the upper half of the product is added to the lower one 38 times.</summary>
            public static Number operator *(Number a, Number b)
            {
                long[] product = new long[16], x = a.digits, y = b.digits;
                for (int i = 0; i < 16; i++)
                {
                    long low = 0, high = 0;
                    for (int j = 0; j <= i; j++) low += x[j] * y[i - j];
                    for (int j = i + 1; j < 16; j++) high += x[j] * y[16 + i - j];
                    product[i] = low + 38 * high;
                }
                Carry(product);
                Carry(product);
                return new Number(product);
            }

            private static void Carry(long[] digits)
            {
                for (int i = 0; i < 16; i++)
                {
                    long carry = digits[i] >> 16;
                    digits[i] -= carry << 16;
                    if (i < 15) digits[i + 1] += carry;
                    else digits[0] += 38 * carry;
                }
            }

            /// <summary>Returns the number to the power of 2^255 − 21 (Fermat).</summary>
            internal Number Invert()
            {
                Number power = this;
                for (int i = 253; i >= 0; i--) power = i == 2 || i == 4 ? power * power : power * power * this;
                return power;
            }

            /// <summary>Returns the number to the power of (2^255 − 24) / 8, with which a square root begins.</summary>
            internal Number ToThePowerOfFiveEighths()
            {
                Number power = this;
                for (int i = 250; i >= 0; i--) power = i == 1 ? power * power : power * power * this;
                return power;
            }

            internal bool IsOdd()
            {
                return (ToBytes()[0] & 1) == 1;
            }

            internal bool Equals(Number other)
            {
                return ToBytes().SequenceEqual(other.ToBytes());
            }

            /// <summary>Returns the one encoding of the number, below the prime.</summary>
            internal byte[] ToBytes()
            {
                long[] reduced = (long[])digits.Clone();
                for (int i = 0; i < 3; i++) Carry(reduced);
                byte[] bytes = new byte[32];
                for (int i = 0; i < 16; i++)
                {
                    bytes[2 * i] = (byte)reduced[i];
                    bytes[2 * i + 1] = (byte)(reduced[i] >> 8);
                }
                BigInteger number = ReadScalar(bytes) % Prime;
                byte[] canonical = number.ToByteArray();
                Array.Resize(ref canonical, 32);
                return canonical;
            }

            private static readonly BigInteger Prime = BigInteger.Pow(2, 255) - 19;
        }
    }
}
