using System;
using System.Collections;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Text;
using System.Text.RegularExpressions;

namespace LatchkeyClient
{
    using Fields = Dictionary<string, object>;

    /// <summary>What is known of the service's time: its offset to that of the device, and the latest one, in milliseconds.</summary>
    internal sealed class Clock
    {
        private const long MinuteMs = 60000;
        internal readonly long OffsetMs, LatestMs;

        internal Clock(long offsetMs, long latestMs)
        {
            OffsetMs = offsetMs;
            LatestMs = latestMs;
        }

        internal static Clock Of(Fields kept)
        {
            object clock = Json.Member(kept, "clock");
            return new Clock(Json.Integer(clock, "offset_ms") ?? 0, Json.Integer(clock, "latest_ms") ?? 0);
        }

        internal Fields ToFields()
        {
            return Json.Of("offset_ms", OffsetMs, "latest_ms", LatestMs);
        }

        internal long Now(long deviceMs)
        {
            return Math.Max(deviceMs + OffsetMs, LatestMs);
        }

        internal bool WentBack(long deviceMs)
        {
            return deviceMs + OffsetMs < LatestMs - 60 * MinuteMs;
        }

        internal Clock Learn(long deviceMs, long serviceMs)
        {
            long differenceMs = serviceMs - deviceMs;
            return new Clock(Math.Abs(differenceMs) < 5 * MinuteMs ? 0 : differenceMs, Math.Max(LatestMs, serviceMs));
        }

        /// <summary>Returns the time of an answer: its header Date, which no signature protects, if that fits the time of issue, else the latter.</summary>
        internal static long ServiceTime(long? dateMs, long issuedMs)
        {
            return dateMs >= issuedMs && dateMs <= issuedMs + 65 * MinuteMs ? dateMs.Value : issuedMs;
        }

        /// <summary>Returns a time; the first or the last one of .NET beyond its range.</summary>
        internal static DateTimeOffset ToTime(long ms)
        {
            long first = DateTimeOffset.MinValue.ToUnixTimeMilliseconds(), last = DateTimeOffset.MaxValue.ToUnixTimeMilliseconds();
            return DateTimeOffset.FromUnixTimeMilliseconds(Math.Max(first, Math.Min(last, ms)));
        }

        internal static string Format(long ms)
        {
            return Format(ToTime(ms));
        }

        internal static string Format(DateTimeOffset time)
        {
            return time.UtcDateTime.ToString("yyyy-MM-dd'T'HH:mm:ss.fff'Z'", CultureInfo.InvariantCulture);
        }

        internal static DateTimeOffset? Parse(string text)
        {
            const DateTimeStyles InUtc = DateTimeStyles.AssumeUniversal | DateTimeStyles.AdjustToUniversal;
            bool isTime = DateTimeOffset.TryParse(text, CultureInfo.InvariantCulture, InUtc, out DateTimeOffset time);
            return isTime ? time : (DateTimeOffset?)null;
        }
    }

    /// <summary>What to send for a typed key. <c>foreign</c>: perhaps issued elsewhere, sent as it is; <c>mistyped</c>: its checksum is wrong.</summary>
    internal sealed class TypedKey
    {
        private const string Alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
        private static readonly Regex Separators = new Regex(@"[\s\uFEFF\p{Pd}]+");
        private static readonly Regex BlanksAround = new Regex(@"\A[\s\uFEFF]+|[\s\uFEFF]+\z");
        private static readonly Regex Parts = new Regex(@"\A([A-Za-z0-9]{0,8})([A-Za-z0-9]{25})\z");

        internal readonly string Key, Verdict;

        private TypedKey(string key, string verdict)
        {
            Key = key;
            Verdict = verdict;
        }

        /// <summary>Reads a typed key. A wrong checksum is a typo only if a separator follows the prefix; else it may be the key of another shop.</summary>
        internal static TypedKey Read(string text)
        {
            string typed = BlanksAround.Replace(text, "");
            Match parts = Parts.Match(Separators.Replace(typed, ""));
            string prefix = parts.Groups[1].Value;
            string symbols = parts.Groups[2].Value.ToUpperInvariant().Replace('O', '0').Replace('I', '1').Replace('L', '1');
            if (!parts.Success || symbols.Contains('U')) return new TypedKey(typed, "foreign");
            bool isRight = HasRightChecksum(symbols);
            if (!isRight && (prefix == "" || Separators.Split(typed)[0] != prefix)) return new TypedKey(typed, "foreign");
            string groups = Regex.Replace(symbols, ".{5}(?!$)", "$0-");
            return new TypedKey(prefix == "" ? groups : prefix.ToUpperInvariant() + "-" + groups, isRight ? "ok" : "mistyped");
        }

        /// <summary>The last two of 25 symbols are the number that the others write, modulo 1021.</summary>
        private static bool HasRightChecksum(string symbols)
        {
            int remainder = symbols.Take(23).Aggregate(0, (sum, symbol) => (sum * 32 + Alphabet.IndexOf(symbol)) % 1021);
            return remainder == Alphabet.IndexOf(symbols[23]) * 32 + Alphabet.IndexOf(symbols[24]);
        }
    }

    /// <summary>What arrived over HTTP.</summary>
    internal sealed class Received
    {
        internal int Status { get; set; }
        internal string ContentType { get; set; }
        internal string Date { get; set; }
        internal string RetryAfter { get; set; }
        /// <summary>Null: more than a megabyte.</summary>
        internal string Body { get; set; }
    }

    /// <summary>The outcome of a request: an answer has a body; a refusal a code, too; everything else changes nothing and has a cause.</summary>
    internal sealed class Answer
    {
        private static readonly Regex AboutLicense = new Regex("^(?:license|activation|machine|trial)_");

        internal int Status { get; private set; }
        internal object Body { get; private set; }
        internal string Code { get; private set; }
        internal Cause? Cause { get; private set; }
        internal string Detail { get; private set; }
        internal long? DateMs { get; private set; }
        internal long RetryAfterMs { get; private set; }

        internal bool IsSuccess => Cause == null && Code == null;

        /// <summary>Whether the service lists the faults of a request that does not match its schema, which has no code.</summary>
        internal bool HasFaults => Status == 422 && Json.Member(Body, "detail") is List<object> faults
            && faults.Any(each => Json.Member(each, "loc") is List<object>);

        /// <summary>Whether it confirms a deactivation.</summary>
        internal bool IsDone => IsSuccess && Json.IsTrue(Body, "success");

        /// <summary>Whether a refusal is about the license, and not about the path, or of something between.</summary>
        internal bool IsAboutLicense => Code != null && (Status == 403 || Status == 404) && AboutLicense.IsMatch(Code);

        internal static Answer Silent(Cause cause, string detail, int status = 0)
        {
            return new Answer { Cause = cause, Detail = detail, Status = status };
        }

        internal static Answer OtherShape()
        {
            return Silent(LatchkeyClient.Cause.Portal, "JSON of another shape");
        }

        /// <summary>Decides what arrived: only JSON of the service's own forms is an answer.</summary>
        internal static Answer Of(Received received)
        {
            int status = received.Status;
            if (status == 429 || status >= 500)
            {
                Answer busy = Silent(LatchkeyClient.Cause.Busy, "status " + status, status);
                busy.RetryAfterMs = WaitOf(received.RetryAfter);
                return busy;
            }
            if (status == 407) return Silent(LatchkeyClient.Cause.Proxy, "status 407", status);
            if (received.Body == null) return Silent(LatchkeyClient.Cause.Portal, "more than 1 MB", status);
            object body = Json.Parse(received.Body);
            long? dateMs = DateOf(received.Date);
            if (status == 200 && body != null) return new Answer { Status = status, Body = body, DateMs = dateMs };
            bool isProblem = (received.ContentType ?? "").StartsWith("application/problem+json", StringComparison.OrdinalIgnoreCase);
            string code = status >= 400 && (isProblem || Json.Integer(body, "status") == status) ? Json.Text(body, "code") : null;
            if (code != null) return new Answer { Status = status, Body = body, Code = code, DateMs = dateMs };
            Answer other = Silent(LatchkeyClient.Cause.Portal, "status " + status + ", not an answer of the service", status);
            other.Body = body;
            return other;
        }

        private static long WaitOf(string header)
        {
            bool isNumber = Regex.IsMatch(header ?? "", @"\A[0-9]{1,9}\z");
            return isNumber ? Math.Min(long.Parse(header, CultureInfo.InvariantCulture), 86400) * 1000 : 0;
        }

        private static long? DateOf(string header)
        {
            bool isDate = DateTimeOffset.TryParseExact(header, "r", CultureInfo.InvariantCulture, DateTimeStyles.AssumeUniversal, out DateTimeOffset date);
            return isDate ? date.ToUnixTimeMilliseconds() : (long?)null;
        }
    }

    /// <summary>Parses and writes JSON (RFC 8259): dictionaries, lists, strings, numbers, bool, and null.</summary>
    internal sealed class Json
    {
        private const int MaxDepth = 200;
        private const double LargestExact = 9007199254740991;
        private static readonly Regex Number = new Regex(@"\G-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?");
        private readonly string text;
        private int at;

        private Json(string text)
        {
            this.text = text;
        }

        /// <summary>Creates an object from names and values in turn.</summary>
        internal static Fields Of(params object[] pairs)
        {
            Fields fields = new Fields();
            for (int i = 0; i < pairs.Length; i += 2) fields[(string)pairs[i]] = pairs[i + 1];
            return fields;
        }

        /// <summary>Returns a member of an object; null if there is none, or if the value is no object.</summary>
        internal static object Member(object value, string name)
        {
            return value is Fields fields && fields.TryGetValue(name, out object member) ? member : null;
        }

        internal static bool IsTrue(object value, string name)
        {
            return Member(value, name) is bool flag && flag;
        }

        internal static string Text(object value, string name)
        {
            return Member(value, name) as string;
        }

        /// <summary>Returns a member that is a whole and exact number, else null.</summary>
        internal static long? Integer(object value, string name)
        {
            object member = Member(value, name);
            if (member is long || member is int) return Convert.ToInt64(member, CultureInfo.InvariantCulture);
            return member is double number && number == Math.Floor(number) && Math.Abs(number) <= LargestExact ? (long?)number : null;
        }

        /// <summary>Returns the texts of a list.</summary>
        internal static List<string> Texts(object list)
        {
            return (list as IEnumerable<object> ?? new object[0]).OfType<string>().ToList();
        }

        /// <summary>Returns a value; null if the text is not JSON, or if it is <c>null</c>.</summary>
        internal static object Parse(string text)
        {
            try
            {
                Json json = new Json(text);
                object value = json.ReadValue(0);
                return json.at == text.Length ? value : null;
            }
            catch (FormatException)
            {
                // The caller handles texts that are not JSON.
                return null;
            }
        }

        private object ReadValue(int depth)
        {
            if (depth > MaxDepth) throw new FormatException("too deep");
            SkipBlanks();
            object value = ReadAny(depth);
            SkipBlanks();
            return value;
        }

        private object ReadAny(int depth)
        {
            switch (Peek())
            {
                case '{': return ReadObject(depth);
                case '[': return ReadList(depth);
                case '"': return ReadText();
                case 't': return ReadWord("true", true);
                case 'f': return ReadWord("false", false);
                case 'n': return ReadWord("null", null);
                default: return ReadNumber();
            }
        }

        private char Peek()
        {
            return at < text.Length ? text[at] : throw new FormatException("cut");
        }

        private char Next()
        {
            char next = Peek();
            at++;
            return next;
        }

        private void SkipBlanks()
        {
            while (at < text.Length && " \t\n\r".IndexOf(text[at]) >= 0) at++;
        }

        private Fields ReadObject(int depth)
        {
            Fields members = new Fields();
            for (bool isFirst = true; HasMore(isFirst, '}'); isFirst = false)
            {
                SkipBlanks();
                string name = ReadText();
                SkipBlanks();
                Expect(':');
                members[name] = ReadValue(depth + 1);
            }
            return members;
        }

        private List<object> ReadList(int depth)
        {
            List<object> items = new List<object>();
            for (bool isFirst = true; HasMore(isFirst, ']'); isFirst = false) items.Add(ReadValue(depth + 1));
            return items;
        }

        /// <summary>Moves behind the bracket that opens, or behind the comma; false at the bracket that closes.</summary>
        private bool HasMore(bool isFirst, char end)
        {
            char separator = Next();
            if (!isFirst && separator != end && separator != ',') throw new FormatException("no comma");
            if (!isFirst) return separator == ',';
            SkipBlanks();
            if (Peek() != end) return true;
            at++;
            return false;
        }

        private void Expect(char wanted)
        {
            if (Next() != wanted) throw new FormatException("no " + wanted);
        }

        private string ReadText()
        {
            Expect('"');
            StringBuilder read = new StringBuilder();
            for (char next = Next(); next != '"'; next = Next())
            {
                if (next < ' ') throw new FormatException("a control character");
                read.Append(next == '\\' ? ReadEscape() : next);
            }
            return read.ToString();
        }

        private char ReadEscape()
        {
            char escaped = Next();
            int plain = "\"\\/bfnrt".IndexOf(escaped);
            if (plain >= 0) return "\"\\/\b\f\n\r\t"[plain];
            string digits = new string(new[] { Next(), Next(), Next(), Next() });
            if (escaped != 'u' || !Regex.IsMatch(digits, @"\A[0-9a-fA-F]{4}\z")) throw new FormatException("an unknown escape");
            return (char)Convert.ToInt32(digits, 16);
        }

        private object ReadWord(string word, object value)
        {
            if (string.CompareOrdinal(text, at, word, 0, word.Length) != 0) throw new FormatException("an unknown word");
            at += word.Length;
            return value;
        }

        private object ReadNumber()
        {
            Match number = Number.Match(text, at);
            if (!number.Success) throw new FormatException("no value");
            at += number.Length;
            bool fits = double.TryParse(number.Value, NumberStyles.Float, CultureInfo.InvariantCulture, out double value);
            return fits ? value : double.PositiveInfinity;
        }

        internal static string Write(object value)
        {
            StringBuilder written = new StringBuilder();
            Write(value, written);
            return written.ToString();
        }

        private static void Write(object value, StringBuilder to)
        {
            if (value is string text) WriteText(text, to);
            else if (value is IDictionary<string, object> fields) WriteAll(fields, '{', '}', to);
            else if (value is KeyValuePair<string, object> member) WriteMember(member, to);
            else if (value is IEnumerable items) WriteAll(items.Cast<object>(), '[', ']', to);
            else if (value is bool flag) to.Append(flag ? "true" : "false");
            else if (value is double number) WriteNumber(number, to);
            else to.Append(value == null ? "null" : Convert.ToString(value, CultureInfo.InvariantCulture));
        }

        private static void WriteMember(KeyValuePair<string, object> member, StringBuilder to)
        {
            WriteText(member.Key, to);
            Write(member.Value, to.Append(':'));
        }

        private static void WriteAll<T>(IEnumerable<T> items, char begin, char end, StringBuilder to)
        {
            string separator = "";
            to.Append(begin);
            foreach (T each in items)
            {
                Write(each, to.Append(separator));
                separator = ",";
            }
            to.Append(end);
        }

        private static void WriteNumber(double number, StringBuilder to)
        {
            bool isWhole = number == Math.Floor(number) && Math.Abs(number) <= LargestExact;
            if (isWhole) to.Append((long)number);
            else to.Append(double.IsInfinity(number) || double.IsNaN(number) ? "null" : number.ToString("R", CultureInfo.InvariantCulture));
        }

        /// <summary>Also escapes half characters, which UTF-8 cannot express.</summary>
        private static void WriteText(string text, StringBuilder to)
        {
            to.Append('"');
            foreach (char each in text)
            {
                if (each == '"' || each == '\\') to.Append('\\').Append(each);
                else if (each < ' ' || char.IsSurrogate(each)) to.Append("\\u").Append(((int)each).ToString("x4", CultureInfo.InvariantCulture));
                else to.Append(each);
            }
            to.Append('"');
        }
    }
}
