import { recordTimeBasedEvents } from '#server/features/outgoing-webhooks/record-time-based-events.ts';

import { SHOPS } from '../payments/shops.ts';
import { DAY_MS, runAt, startOfDay } from '../time.ts';
import type { PlannedSale } from '../world/plan.ts';
import { ENDPOINT_DAYS } from './endpoints.ts';
import { runJobs, type Period } from './jobs.ts';
import { recordKeyEmails } from './key-emails.ts';
import { beginTrial, findSoldLicenses, listIssues } from './licenses.ts';
import { listActivations, listFreedMachines, listLicensedUses } from './machines.ts';
import { applyPurchase, applyTogether, DELAY_MS, listLaterPayments } from './payments.ts';
import { runInOrder, runTogether } from './run-actions.ts';
import { activateMachines, applyPurchases, beginTrials } from './store-together.ts';
import type { Action, World } from './world.ts';

/**
 * Lets the time pass: trials and purchases, their e-mails, machines, later payments, and what operators did. It goes by weeks
 * until the first endpoint is registered, whose messages have the time of their cause, and then by days.
 * @param operatorActions in the order of time
 * @param onStep called after each step with the number of licenses so far
 */
export async function fillDays(
  world: World,
  operatorActions: readonly Action[],
  onStep: (licenses: number) => void,
): Promise<void> {
  const steps = planSteps(world, operatorActions);
  const timeOf = timesOfTransactions(world.plans.sales);
  const runJobsOf: RunJobs = (step) =>
    runJobs(world, ({ transactionId }) => timeOf.get(transactionId ?? ''), step);
  let licenses = 0;
  for (const step of steps) {
    await (step.isDay ? fillDay(world, step, runJobsOf) : fillWeek(world, step, runJobsOf));
    licenses += step.trials.length + step.sales.length;
    onStep(licenses);
  }
}

type Step = ReturnType<typeof planSteps>[number];
type RunJobs = (period: Period) => Promise<void>;

/** Sorts all that happened into the steps, in their order. */
function planSteps(world: World, operatorActions: readonly Action[]) {
  const { nowMs, plans } = world;
  const firstDay = startOfDay(nowMs - ENDPOINT_DAYS * DAY_MS);
  const startOf = (timeMs: number): number => {
    const day = startOfDay(timeMs);
    return day >= firstDay ? day : firstDay - Math.ceil((firstDay - day) / WEEK_MS) * WEEK_MS;
  };
  const uses = listLicensedUses(world);
  const groups = {
    trials: Map.groupBy(plans.trials, ({ atMs }) => startOf(atMs)),
    sales: Map.groupBy(plans.sales, ({ sale }) => startOf(sale.at.getTime())),
    payments: Map.groupBy(listLaterPayments(world), ({ at }) => startOf(at.getTime())),
    uses: Map.groupBy(uses, ({ use }) => startOf(use.fromMs)),
    freed: Map.groupBy(listFreedMachines(world, uses), ({ atMs }) => startOf(atMs)),
    operators: Map.groupBy([...listIssues(world), ...operatorActions], (each) =>
      startOf(each.atMs),
    ),
  };
  const starts = new Set(Object.values(groups).flatMap((group) => [...group.keys()]));
  return [...starts]
    .toSorted((one, other) => one - other)
    .map((startMs) => ({
      isDay: startMs >= firstDay,
      startMs,
      endMs: Math.min(startMs + (startMs >= firstDay ? DAY_MS : WEEK_MS), nowMs),
      trials: groups.trials.get(startMs) ?? [],
      sales: groups.sales.get(startMs) ?? [],
      payments: groups.payments.get(startMs) ?? [],
      uses: groups.uses.get(startMs) ?? [],
      freed: groups.freed.get(startMs) ?? [],
      operators: groups.operators.get(startMs) ?? [],
    }));
}

const WEEK_MS = 7 * DAY_MS;

async function fillWeek(world: World, step: Step, runJobsOf: RunJobs): Promise<void> {
  await Promise.all([beginTrials(world, step.trials), applyPurchases(world, step.sales)]);
  await recordKeyEmails(world, step.sales);
  await runInOrder(step.operators);
  await activateMachines(world, step.uses);
  await runInOrder(step.freed);
  await applyTogether(world, step.payments);
  await runJobsOf(step);
}

async function fillDay(world: World, step: Step, runJobsOf: RunJobs): Promise<void> {
  const trials = step.trials.map((trial) => ({
    atMs: trial.atMs,
    run: () => beginTrial(world, trial),
  }));
  const purchases = step.sales.map((planned) => ({
    atMs: planned.sale.at.getTime() + DELAY_MS,
    run: () => applyPurchase(world, planned),
  }));
  await Promise.all([runInOrder(trials), runInOrder(purchases)]);
  await findSoldLicenses(world, step.sales);
  await runInOrder(step.operators);
  await runTogether([...listActivations(world, step.uses), ...step.freed]);
  await applyTogether(world, step.payments);
  await runJobsOf(step);
  await runAt(step.endMs, () => recordTimeBasedEvents(world.context));
}

function timesOfTransactions(sales: readonly PlannedSale[]): ReadonlyMap<string, number> {
  return new Map(
    sales.flatMap(({ sale }) =>
      SHOPS[sale.provider]
        .listTransactionIds(sale)
        .map((transactionId) => [transactionId, sale.at.getTime() + DELAY_MS] as const),
    ),
  );
}
