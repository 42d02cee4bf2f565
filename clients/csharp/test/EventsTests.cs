using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net.Http;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;

namespace LatchkeyClient
{
    using Fields = Dictionary<string, object>;

    /// <summary>Events in their file, and on their way to the service.</summary>
    internal static class EventsTests
    {
        internal static void AddTo(Suite suite)
        {
            suite.Test("nothing is sent without consent, and refusing it deletes what waits", () =>
            {
                World world = new World();
                Latchkey client = world.Open();
                client.Track("opened");
                Suite.Equal(client.FlushAsync().Result.Code, "sharing_off");
                Suite.Equal(Lines(world).Length, 1);
                Suite.Equal(client.SetSharingAsync(false).Result.Ok, true);
                client.Track("opened");
                Suite.Equal(Lines(world).Length, 0);
                Suite.Equal(world.Requests, new string[0]);
            });
            suite.Test("an event is in the file when track returns, and is sent by the next run under the same id", SendLater);
            suite.Test("batches have at most 500 events, and 413 halves them", Halve);
            suite.Test("429, 5xx, pages and failures keep the ids, and a refusal drops the batch", KeepIds);
            suite.Test("the queue has at most 5,000 events and 1 MB; the oldest are dropped and counted", () =>
            {
                World world = new World();
                EventQueue queue = new EventQueue(Path.Combine(world.Folder, "events.jsonl"), (code, error) => throw error);
                for (int i = 0; i <= EventQueue.MaxEvents; i++) queue.Add(CreateEvent(i, ""));
                Suite.Equal(new[] { queue.Dropped, Lines(world).Length }, new[] { 501, 4500 });
                Suite.Equal(queue.NextBatch(1, 0)[0]["id"], "501");
                for (int i = 0; i < 1000; i++) queue.Add(CreateEvent(i, new string('x', 1500)));
                Suite.IsTrue(new FileInfo(Path.Combine(world.Folder, "events.jsonl")).Length <= EventQueue.MaxBytes, "more than 1 MB");
            });
            suite.Test("a file that cannot be read is not replaced, and its events are kept", KeepUnreadable);
            suite.Test("the user who stops sharing removes events that cannot be read, too", () =>
            {
                World world = new World();
                string file = Path.Combine(world.Folder, "events.jsonl");
                // A folder can neither be read nor replaced.
                Directory.CreateDirectory(file);
                EventQueue queue = new EventQueue(file, (code, error) => { });
                queue.Add(CreateEvent(1, ""));
                queue.Clear();
                Directory.Delete(file);
                File.WriteAllText(file, Line(9));
                queue.Add(CreateEvent(2, ""));
                Suite.Equal(Lines(world), new[] { Line(2) });
            });
            suite.Test("a file that may have events is cleared, and one without any is not written", () =>
            {
                World world = new World();
                string file = Path.Combine(world.Folder, "events.jsonl");
                List<string> problems = new List<string>();
                Func<EventQueue> open = () => new EventQueue(file, (code, error) => problems.Add(code));
                open().Add(CreateEvent(1, ""));
                open().ClearUnlessEmpty();
                Suite.Equal(Lines(world), new string[0]);
                File.Delete(file);
                open().ClearUnlessEmpty();
                Suite.Equal(File.Exists(file), false);
                // A folder can neither be read nor replaced.
                Directory.CreateDirectory(file);
                EventQueue queue = open();
                queue.ClearUnlessEmpty();
                Directory.Delete(file);
                File.WriteAllText(file, Line(9));
                queue.Add(CreateEvent(2, ""));
                Suite.Equal(Lines(world), new[] { Line(2) });
                Suite.Equal(problems.Distinct(), new[] { "events_unwritable" });
            });
            suite.Test("an event that was dropped while it was sent is counted once", () =>
            {
                EventQueue queue = new EventQueue(Path.Combine(new World().Folder, "events.jsonl"), (code, error) => throw error);
                for (int i = 0; i < EventQueue.MaxEvents; i++) queue.Add(CreateEvent(i, ""));
                List<Fields> batch = queue.NextBatch(400, 0);
                queue.Add(CreateEvent(EventQueue.MaxEvents, ""));
                Suite.Equal(queue.Dropped, 501);
                queue.Drop(batch.Take(100).ToList());
                Suite.Equal(queue.Dropped, 501);
                queue.Remove(batch.Skip(100).ToList());
                Suite.Equal(queue.Dropped, 201);
            });
            suite.Test("events older than 30 days, and lines that are cut, are dropped", () =>
            {
                World world = new World();
                Latchkey client = world.Open();
                client.SetSharingAsync(true).Wait();
                client.Track("old");
                world.Now += TimeSpan.FromDays(31);
                client.Track("new");
                client.CloseAsync().Wait();
                File.AppendAllText(Path.Combine(world.Folder, "events.jsonl"), "{\"id\":\"cut");
                List<string> names = new List<string>();
                world.Script = Accept(batch => names.AddRange(batch.Select(each => Json.Text(each, "name"))));
                Suite.Equal(world.Open().FlushAsync().Result.Sent, 1);
                Suite.Equal(names, new[] { "new" });
            });
            suite.Test("names and props are as the service accepts them", () =>
            {
                Suite.Equal(EventText.CleanName(" a\tb\u2028c \ud83d\ude00\ud83d "), "a b c \ud83d\ude00");
                Suite.Equal(EventText.CleanName(" \n"), "");
                Suite.Equal(EventText.CleanName(new string('n', 200)).Length, 120);
                Fields props = Enumerable.Range(0, 40).ToDictionary(i => "k" + i, i => (object)i);
                Suite.Equal(EventText.CleanProps(props).Count, 32);
                Fields mixed = Json.Of("flag", true, "number", 1.5, "text", "a\0b\ud83d", "none", null, "long", new string('v', 2000), new string('k', 65), 1);
                Fields cleaned = EventText.CleanProps(mixed);
                Suite.Equal(new[] { cleaned["flag"], cleaned["number"], cleaned["text"], cleaned["none"] }, new[] { "true", "1.5", "a\uFFFDb\uFFFD", "" });
                Suite.Equal(new[] { ((string)cleaned["long"]).Length, cleaned.Count }, new[] { 1024, 5 });
            });
            suite.Test("ids are UUIDs of version 7 that begin with the time", () =>
            {
                string id = Chance.TimeUuid(1800000000000);
                Suite.IsTrue(Regex.IsMatch(id, "^01a3185c-5000-7[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$"), id);
                Suite.IsTrue(Chance.TimeUuid(1800000000000) != id, "the same id twice");
            });
            suite.Test("no event is sent under an id that was erased while a batch was sent", () =>
            {
                World world = new World();
                Latchkey client = world.Open();
                client.SetSharingAsync(true).Wait();
                for (int i = 0; i < 501; i++) client.Track("clicked");
                List<int> sizes = new List<int>();
                Task<Result> erased = null;
                world.Script = Accept(batch =>
                {
                    sizes.Add(batch.Count);
                    erased = client.EraseAsync();
                    while (Json.Text(world.Kept, "install_id") != null) Thread.Sleep(1);
                    Suite.IsTrue(!erased.IsCompleted, "it waits for the batch");
                });
                Suite.Equal(client.FlushAsync().Result.Code, "sharing_off");
                Suite.IsTrue(erased.Result.Ok, "it ends after the batch");
                Suite.Equal(sizes, new[] { 500 });
            });
            suite.Test("erasing returns the id of the installation, and forgets it", () =>
            {
                World world = new World();
                Latchkey client = world.Open();
                client.SetSharingAsync(true).Wait();
                string id = Json.Text(world.Kept, "install_id");
                Suite.Equal(client.EraseAsync().Result.InstallId, id);
                Suite.Equal(new[] { world.Kept["install_id"], world.Kept["sharing"] }, new object[] { null, false });
            });
        }

        private static void KeepUnreadable()
        {
            World world = new World();
            string file = Path.Combine(world.Folder, "events.jsonl");
            List<string> problems = new List<string>();
            EventQueue first = new EventQueue(file, (code, error) => throw error);
            first.Add(CreateEvent(1, ""));
            EventQueue queue = new EventQueue(file, (code, error) => problems.Add(code));
            Action restore = world.MakeUnreadable("events.jsonl");
            queue.Add(CreateEvent(2, ""));
            queue.Add(CreateEvent(3, ""));
            queue.Remove(queue.NextBatch(1, 0));
            Suite.Equal(problems.Distinct(), new[] { "events_unwritable" });
            restore();
            queue.Add(CreateEvent(4, ""));
            Suite.Equal(Lines(world), new[] { Line(1), Line(3), Line(4) });
            Suite.Equal(queue.NextBatch(9, 0).Select(each => each["id"]), new[] { "1", "3", "4" });
        }

        private static string Line(int id)
        {
            return Json.Write(CreateEvent(id, ""));
        }

        private static void SendLater()
        {
            World world = new World();
            Latchkey client = world.Open();
            client.SetSharingAsync(true).Wait();
            client.Track("export_finished", Json.Of("format", "pdf"));
            string id = Json.Text(Json.Parse(Lines(world)[0]), "id");
            List<Fields> sent = new List<Fields>();
            Latchkey again = world.Open();
            again.Track("opened");
            world.Script = Accept(batch => sent.AddRange(batch));
            Suite.Equal(again.FlushAsync().Result.Sent, 2);
            Suite.Equal(new[] { sent[0]["event_id"], sent[0]["occurred_at"] }, new[] { id, "2027-01-15T08:00:00.000Z" });
            Suite.Equal(world.Requests.Count(each => each == "POST /api/v1/events"), 2);
            Suite.Equal(Lines(world).Length, 0);
        }

        private static void Halve()
        {
            World world = new World();
            Latchkey client = world.Open();
            client.SetSharingAsync(true).Wait();
            for (int i = 0; i < 1100; i++) client.Track("n" + i);
            List<int> sizes = new List<int>();
            List<string> stored = new List<string>();
            world.Script = (path, body) =>
            {
                List<object> batch = (List<object>)body["events"];
                sizes.Add(batch.Count);
                if (batch.Count > 200) return World.Refusal(413, "payload_too_large");
                stored.AddRange(batch.Select(each => Json.Text(each, "name")));
                return World.Answer(Json.Of("accepted", batch.Count, "dropped", 0));
            };
            Result result = client.FlushAsync().Result;
            Suite.Equal(new[] { result.Sent, result.Rejected, stored.Distinct().Count(), stored.Count }, new[] { 1100, 0, 1100, 1100 });
            Suite.Equal(sizes.Take(3), new[] { 500, 250, 125 });
        }

        private static void KeepIds()
        {
            World world = new World();
            Latchkey client = world.Open();
            client.SetSharingAsync(true).Wait();
            client.Track("kept");
            string before = Lines(world)[0];
            Script[] silences =
            {
                (path, body) => World.Refusal(429, "rate_limited"), (path, body) => World.Refusal(503, "overloaded"), (path, body) => World.Page(200),
                (path, body) => World.Page(404), (path, body) => World.Page(422), (path, body) => World.Raw(422, "{\"detail\":[\"blocked\"]}"),
                (path, body) => throw new HttpRequestException("refused"), (path, body) => World.Raw(200, "{}"),
            };
            foreach (Script each in silences)
            {
                world.Script = each;
                Suite.Equal(client.FlushAsync().Result.Code, "no_answer");
                Suite.Equal(Lines(world), new[] { before });
            }
            world.Script = (path, body) => World.Raw(422, "{\"detail\":[{\"loc\":[\"body\",\"events\",0],\"msg\":\"Field required\",\"type\":\"missing\"}]}");
            Result rejected = client.FlushAsync().Result;
            Suite.Equal(new object[] { rejected.Ok, rejected.Rejected, Lines(world).Length }, new object[] { true, 1, 0 });
            Suite.Equal(world.Problems, new[] { "events_rejected" });
        }

        private static Script Accept(Action<List<Fields>> look)
        {
            return (path, body) =>
            {
                List<Fields> batch = ((List<object>)body["events"]).Cast<Fields>().ToList();
                look(batch);
                return World.Answer(Json.Of("accepted", batch.Count, "dropped", 0));
            };
        }

        private static Fields CreateEvent(int id, string text)
        {
            return Json.Of("id", id.ToString(), "name", "n", "at", "1970-01-01T00:00:00.000Z", "props", Json.Of("text", text), "session", "s", "app", "1");
        }

        internal static string[] Lines(World world)
        {
            return File.ReadAllText(Path.Combine(world.Folder, "events.jsonl")).Split(new[] { '\n' }, StringSplitOptions.RemoveEmptyEntries);
        }
    }
}
