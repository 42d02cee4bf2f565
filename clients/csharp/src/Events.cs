using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Text;
using System.Text.RegularExpressions;
using System.Threading.Tasks;

namespace LatchkeyClient
{
    using Fields = Dictionary<string, object>;

    /// <summary>Keeps and sends the events of a client.</summary>
    internal sealed class Events
    {
        /// <summary>The service's limit.</summary>
        private const int MaxBatch = 500;

        private readonly Options options;
        private readonly Session session;
        private readonly EventQueue queue;
        private readonly string run = Guid.NewGuid().ToString();
        private readonly object tracking = new object();

        internal Events(Options options, Session session)
        {
            this.options = options;
            this.session = session;
            queue = new EventQueue(Path.Combine(options.Folder, "events.jsonl"), session.Report);
            session.OnRead = ClearRefused;
            ClearRefused();
        }

        internal int Dropped => queue.Dropped;

        /// <summary>Removes all events. Afterwards none is added that was tracked before the user stopped sharing.</summary>
        internal void Clear()
        {
            lock (tracking) queue.Clear();
        }

        /// <summary>
        /// Removes events that were tracked, in this run or in an earlier one, before it could be read that the user does not share usage.
        /// </summary>
        private void ClearRefused()
        {
            lock (tracking) if (session.Sharing == false) queue.ClearUnlessEmpty();
        }

        internal void Track(string name, IDictionary<string, object> props)
        {
            try
            {
                string cleaned = EventText.CleanName(name);
                if (cleaned == "") return;
                long nowMs = session.DeviceMs;
                Fields one = Json.Of("id", Chance.TimeUuid(nowMs), "name", cleaned, "at", Clock.Format(nowMs), "props", EventText.CleanProps(props),
                    "session", run, "app", options.AppVersion);
                lock (tracking) if (session.Sharing != false) queue.Add(one);
            }
            catch (Exception error)
            {
                session.Report("unexpected", error);
            }
        }

        /// <summary>Sends the events that wait, in batches. Without an answer they go on waiting, under the same ids.</summary>
        internal async Task<Result> FlushAsync()
        {
            Result result = Result.Done();
            for (int limit = MaxBatch; ;)
            {
                // Each time, because the user may stop sharing, or have the id erased, while a batch is sent.
                string installId = session.SharingId;
                if (installId == null) return Result.Refused("sharing_off");
                List<Fields> batch = queue.NextBatch(limit, session.DeviceMs);
                if (batch.Count == 0) return result;
                Answer answer = await session.Network.AskAsync("/api/v1/events", Describe(installId, batch)).ConfigureAwait(false);
                if (answer.Status == 413 && batch.Count > 1) limit = batch.Count / 2;
                else if (IsStored(answer)) result.Sent += Remove(batch);
                else if (IsRejected(answer)) result.Rejected += Reject(batch);
                else return Result.Unanswered(answer.IsSuccess ? Answer.OtherShape() : answer);
            }
        }

        private static bool IsStored(Answer answer)
        {
            return answer.IsSuccess && Json.Integer(answer.Body, "accepted") != null && Json.Integer(answer.Body, "dropped") != null;
        }

        /// <summary>A page of a portal or of a proxy is no answer, whatever its status; but an event that is too large for a proxy never arrives.</summary>
        private static bool IsRejected(Answer answer)
        {
            return answer.Code != null || answer.HasFaults || answer.Status == 413;
        }

        private int Remove(List<Fields> batch)
        {
            queue.Remove(batch);
            return batch.Count;
        }

        private int Reject(List<Fields> batch)
        {
            queue.Drop(batch);
            session.Report(new Problem("events_rejected", "the service rejected " + batch.Count + " events, the first one named " + batch[0]["name"]));
            return batch.Count;
        }

        private Fields Describe(string installId, List<Fields> batch)
        {
            List<object> described = batch.Select(Rename).ToList();
            Fields body = Json.Of("install_id", installId, "session_id", batch[0]["session"], "app_version", batch[0]["app"], "events", described);
            if (options.OsVersion != null) body["os_version"] = options.OsVersion;
            return body;
        }

        private static object Rename(Fields one)
        {
            return Json.Of("event_id", one["id"], "name", one["name"], "occurred_at", one["at"], "props", one["props"]);
        }
    }

    /// <summary>Texts as the service accepts them.</summary>
    internal static class EventText
    {
        private const int MaxName = 120, MaxProps = 32, MaxKey = 64, MaxValue = 1024;
        private static readonly Regex PairOrUnprintable = new Regex(@"[\uD800-\uDBFF][\uDC00-\uDFFF]|[\p{C}\p{Zl}\p{Zp}]");
        private static readonly Regex PairOrUnstorable = new Regex(@"[\uD800-\uDBFF][\uDC00-\uDFFF]|[\p{Cs}\0]");
        private static readonly UnicodeCategory[] Unprintable =
            { UnicodeCategory.Control, UnicodeCategory.Format, UnicodeCategory.Surrogate, UnicodeCategory.PrivateUse, UnicodeCategory.OtherNotAssigned };

        /// <summary>Returns a printable name of at most 120 characters; an empty text if there is none.</summary>
        internal static string CleanName(string name)
        {
            return PairOrUnprintable.Replace(Cut(name.Trim(), MaxName), each => IsPrintable(each.Value) ? each.Value : " ").Trim();
        }

        private static bool IsPrintable(string found)
        {
            return found.Length == 2 && !Unprintable.Contains(CharUnicodeInfo.GetUnicodeCategory(found, 0));
        }

        internal static Fields CleanProps(IDictionary<string, object> props)
        {
            Fields cleaned = new Fields();
            foreach (KeyValuePair<string, object> each in props.Where(each => each.Key.Length <= MaxKey).Take(MaxProps))
            {
                cleaned[CleanText(each.Key, MaxKey)] = CleanText(ToText(each.Value), MaxValue);
            }
            return cleaned;
        }

        private static string ToText(object value)
        {
            return value is bool flag ? (flag ? "true" : "false") : Convert.ToString(value, CultureInfo.InvariantCulture) ?? "";
        }

        /// <summary>A request with U+0000 or half a character would be refused as a whole.</summary>
        private static string CleanText(string text, int length)
        {
            return PairOrUnstorable.Replace(Cut(text, length), each => each.Length == 2 ? each.Value : "\uFFFD");
        }

        private static string Cut(string text, int length)
        {
            return text.Substring(0, Math.Min(length, text.Length));
        }
    }

    /// <summary>Events that wait in a file, the oldest first, one in a line. Any thread may call it.</summary>
    internal sealed class EventQueue
    {
        internal const int MaxEvents = 5000, MaxBytes = 1000000;
        private const long MaxAgeMs = 30L * 86400000;
        /// <summary>A full queue makes this much space at once, so that it is not written again for every event.</summary>
        private const double KeptWhenFull = 0.9;

        private sealed class Entry
        {
            internal readonly Fields Event;
            internal readonly string Line;
            internal readonly int Bytes;

            internal Entry(Fields one)
            {
                Event = one;
                Line = Json.Write(one) + "\n";
                Bytes = Encoding.UTF8.GetByteCount(Line);
            }
        }

        private enum Stored
        {
            /// <summary>The file is not written before it was read.</summary>
            Unread,
            Read,
            /// <summary>The file is replaced without reading it.</summary>
            Obsolete,
        }

        private readonly object gate = new object();
        private readonly string path;
        private readonly Action<string, Exception> report;
        private List<Entry> entries = new List<Entry>();
        private long bytes;
        private Stored stored = Stored.Unread;
        /// <summary>The ids of events that were removed, and that the file may still have.</summary>
        private readonly HashSet<string> removed = new HashSet<string>();
        /// <summary>The ids of the last batch, and whether the event was dropped since.</summary>
        private Dictionary<string, bool> batch = new Dictionary<string, bool>();

        internal EventQueue(string path, Action<string, Exception> report)
        {
            this.path = path;
            this.report = report;
        }

        /// <summary>How many events were dropped since opening: the queue was full, or they were too old or rejected.</summary>
        internal int Dropped { get; private set; }

        /// <summary>Adds an event. A full queue drops the oldest ones.</summary>
        internal void Add(Fields one)
        {
            lock (gate)
            {
                Load();
                Entry entry = new Entry(one);
                entries.Add(entry);
                bytes += entry.Bytes;
                if (entries.Count > MaxEvents || bytes > MaxBytes) MakeSpace();
                else if (stored == Stored.Read) Attempt(() => Files.Append(path, entry.Line));
                else if (stored == Stored.Obsolete) Rewrite(entries);
            }
        }

        /// <summary>Drops events that are too old, and returns the oldest others of one run and one version.</summary>
        internal List<Fields> NextBatch(int limit, long nowMs)
        {
            lock (gate)
            {
                Load();
                int old = entries.TakeWhile(each => nowMs - Clock.Parse(Json.Text(each.Event, "at")).Value.ToUnixTimeMilliseconds() > MaxAgeMs).Count();
                if (old > 0) DropFirst(old);
                IEnumerable<Fields> events = entries.Select(each => each.Event);
                Fields first = events.FirstOrDefault();
                List<Fields> next = events.TakeWhile(each => each["session"].Equals(first["session"]) && each["app"].Equals(first["app"])).Take(limit).ToList();
                batch = new Dictionary<string, bool>();
                foreach (Fields each in next) batch[IdOf(each)] = false;
                return next;
            }
        }

        /// <summary>Removes events that the service has, and keeps what another process added since.</summary>
        internal void Remove(List<Fields> events)
        {
            lock (gate)
            {
                // Those that were dropped while they were sent arrived all the same.
                Dropped -= events.Count(each => batch.TryGetValue(IdOf(each), out bool wasDropped) && wasDropped);
                removed.UnionWith(events.Select(IdOf));
                Rewrite(entries.Where(each => !removed.Contains(IdOf(each.Event))).ToList());
            }
        }

        /// <summary>Removes events that cannot be sent, and counts them.</summary>
        internal void Drop(List<Fields> events)
        {
            lock (gate)
            {
                Dropped += events.Count;
                Remove(events);
            }
        }

        /// <summary>Removes all events, also those that could not be read.</summary>
        internal void Clear()
        {
            lock (gate)
            {
                stored = Stored.Obsolete;
                Rewrite(new List<Entry>());
            }
        }

        /// <summary>Removes all events, also those that cannot be read, and writes nothing if there are none.</summary>
        internal void ClearUnlessEmpty()
        {
            lock (gate)
            {
                Load();
                if (stored != Stored.Read || entries.Count > 0) Clear();
            }
        }

        private void MakeSpace()
        {
            int gone = 0;
            for (long left = bytes; entries.Count - gone > MaxEvents * KeptWhenFull || left > MaxBytes * KeptWhenFull; gone++) left -= entries[gone].Bytes;
            DropFirst(gone);
        }

        private void DropFirst(int count)
        {
            Dropped += count;
            foreach (string id in entries.Take(count).Select(each => IdOf(each.Event)))
            {
                removed.Add(id);
                if (batch.ContainsKey(id)) batch[id] = true;
            }
            Rewrite(entries.Skip(count).ToList());
        }

        /// <summary>Reads the file, unless that was done. If it fails, events wait in memory, and the next call tries again.</summary>
        private void Load()
        {
            if (stored != Stored.Unread) return;
            if (entries.Count > 0) Rewrite(entries);
            else Attempt(Read);
        }

        private void Set(List<Entry> all)
        {
            entries = all;
            bytes = all.Sum(each => (long)each.Bytes);
        }

        /// <summary>Adds what is in the file: before the first reading, it is older, and later what another process added.</summary>
        private void Read()
        {
            string text = Files.Read(path) ?? "";
            HashSet<string> known = new HashSet<string>(entries.Select(each => IdOf(each.Event)).Concat(removed));
            List<Entry> others = text.Split('\n').Select(Parse).Where(each => each != null && !known.Contains(IdOf(each.Event))).ToList();
            Set((stored == Stored.Unread ? others.Concat(entries) : entries.Concat(others)).ToList());
            stored = Stored.Read;
            // A line that was cut would spoil the next one.
            if (text != "" && !text.EndsWith("\n", StringComparison.Ordinal)) Files.Replace(path, Join(entries));
        }

        /// <summary>Replaces the file, unless it cannot be read: then the entries wait in memory.</summary>
        private void Rewrite(List<Entry> all)
        {
            Set(all);
            Attempt(() =>
            {
                if (stored != Stored.Obsolete) Read();
                Files.Replace(path, Join(entries));
                stored = Stored.Read;
                removed.Clear();
            });
        }

        private static string IdOf(Fields one)
        {
            return Json.Text(one, "id");
        }

        private static string Join(List<Entry> all)
        {
            return string.Concat(all.Select(each => each.Line));
        }

        /// <summary>Returns null for a line that is none, such as one that was cut when the process was killed.</summary>
        private static Entry Parse(string line)
        {
            object one = Json.Parse(line);
            bool isEvent = new[] { "id", "name", "at", "session", "app" }.All(each => Json.Text(one, each) != null)
                && Json.Member(one, "props") is Fields && Clock.Parse(Json.Text(one, "at")) != null;
            return isEvent ? new Entry((Fields)one) : null;
        }

        private void Attempt(Action work)
        {
            try
            {
                work();
            }
            catch (Exception error)
            {
                report("events_unwritable", error);
            }
        }
    }
}
