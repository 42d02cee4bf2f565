using System;
using System.Threading;
using System.Threading.Tasks;

namespace LatchkeyClient
{
    /// <summary>Checks from time to time, and sends events. Its timer does not keep the program running.</summary>
    internal sealed class Background
    {
        private const long MinuteMs = 60000, Running = long.MaxValue;
        private static readonly long[] RetriesMs = { 24 * 60 * MinuteMs, MinuteMs, 5 * MinuteMs, 15 * MinuteMs, 60 * MinuteMs };
        private readonly object gate = new object();
        private readonly Latchkey client;
        private readonly Random random = new Random();
        private Timer timer;
        private long lastTickMs, checkInMs, flushInMs, focusedAtMs = long.MinValue / 2;
        private int failures, flushFailures;
        private string addresses;

        internal Background(Latchkey client)
        {
            this.client = client;
        }

        internal void Start()
        {
            lock (gate)
            {
                if (timer != null) return;
                lastTickMs = client.DeviceMs;
                addresses = Network.DescribeAddresses();
                timer = new Timer(_ => Tick(), null, MinuteMs, MinuteMs);
            }
            Check(Trigger.Startup);
            Flush();
        }

        internal void Stop()
        {
            lock (gate)
            {
                timer?.Dispose();
                timer = null;
            }
        }

        internal void NoticeFocus()
        {
            lock (gate)
            {
                long nowMs = client.DeviceMs;
                if (timer == null || Math.Abs(nowMs - focusedAtMs) < MinuteMs) return;
                focusedAtMs = nowMs;
            }
            Check(Trigger.Foreground);
        }

        /// <summary>A call was not answered: what waits for the service, such as a trial, is sent soon, and not a day later.</summary>
        internal void NoticeFailure(Result result)
        {
            lock (gate)
            {
                // A running check plans the next one.
                if (checkInMs == Running) return;
                failures = Math.Max(1, failures);
                checkInMs = Math.Min(checkInMs, WaitMs(failures, result.RetryAfter, random.NextDouble()));
            }
        }

        private void Tick()
        {
            client.Notify();
            Trigger? trigger = FindTrigger(client.DeviceMs, Network.DescribeAddresses(), out bool mustFlush);
            if (trigger != null) Check(trigger.Value);
            if (mustFlush) Flush();
        }

        /// <summary>Returns why a check is due, or null. A clock that was set, forward or back, counts as waking up.</summary>
        internal Trigger? FindTrigger(long nowMs, string newAddresses, out bool mustFlush)
        {
            lock (gate)
            {
                long passedMs = nowMs - lastTickMs;
                bool isOther = failures > 0 && addresses != newAddresses;
                lastTickMs = nowMs;
                addresses = newAddresses;
                if (checkInMs != Running) checkInMs -= Math.Max(MinuteMs, passedMs);
                if (flushInMs != Running) flushInMs -= Math.Max(MinuteMs, passedMs);
                mustFlush = flushInMs <= 0;
                if (Math.Abs(passedMs) > 5 * MinuteMs) return Trigger.Wake;
                if (isOther) return Trigger.Reconnect;
                return checkInMs <= 0 ? Trigger.Scheduled : (Trigger?)null;
            }
        }

        private async void Check(Trigger trigger)
        {
            lock (gate) checkInMs = Running;
            PlanCheck(await client.CheckAsync(trigger).ConfigureAwait(false));
        }

        internal void PlanCheck(Result result)
        {
            lock (gate)
            {
                // While there may be a license that could not be read, the next check comes as soon as after no answer.
                failures = result.Cause == null && !client.IsUnread ? 0 : failures + 1;
                checkInMs = WaitMs(failures, result.RetryAfter, random.NextDouble());
            }
        }

        private async void Flush()
        {
            lock (gate) flushInMs = Running;
            Result result = await client.FlushAsync().ConfigureAwait(false);
            lock (gate)
            {
                flushFailures = result.Cause == null ? 0 : flushFailures + 1;
                flushInMs = flushFailures == 0 ? 0 : WaitMs(flushFailures, result.RetryAfter, random.NextDouble());
            }
        }

        /// <summary>
        /// Returns the time to the next check: a day; after failures 1, 5, 15, then 60 minutes. With jitter, so that machines do not ask together.
        /// </summary>
        internal static long WaitMs(int failures, TimeSpan retryAfter, double random)
        {
            double waitMs = Math.Max(retryAfter.TotalMilliseconds, RetriesMs[Math.Min(failures, 4)]);
            return (long)(waitMs * (0.9 + 0.2 * random));
        }
    }
}
