import { adviseAttention, adviseUnmatched } from './advise-attention.ts';
import { ATTENTION_PREFIX, DISMISSED_PREFIX, eventState } from './event-state.ts';

/** What the sentences about an event depend on. */
export interface ExplainedEvent {
  readonly provider: string;
  readonly status: 'processed' | 'ignored' | 'deferred' | 'failed';
  readonly message: string | null;
  readonly type: string;
  readonly attempts: number;
  /** When the service tries it again. */
  readonly nextAttemptAt: Date | null;
  /** Whether the body is still stored. */
  readonly hasBody: boolean;
  /** Whether the purchase of the event has a license. */
  readonly hasLicense: boolean;
}

/** What happened to an event, and what an operator can do; null if nothing is needed. */
export interface Explanation {
  readonly summary: string;
  readonly advice: string | null;
}

/** Explains an event in one sentence, with the advice that fits its failure. */
export function explainEvent(event: ExplainedEvent, maxAttempts: number): Explanation {
  const { message } = event;
  const reason = toClause(message);
  switch (eventState(event)) {
    case 'applied':
      return { summary: 'The event is applied.', advice: null };
    case 'ignored':
      return { summary: `The event changes no license: ${reason}`, advice: null };
    case 'dismissed':
      return {
        summary: `An operator dismissed the event: ${toClause((message ?? '').slice(DISMISSED_PREFIX.length))}`,
        advice: withBody(event, 'Replay it if it counts after all.'),
      };
    case 'unmatched':
      return explainUnmatched(event);
    case 'deferred':
      return {
        summary: `The event could not be applied yet: ${reason}`,
        advice:
          'The service retries automatically. Replay the event to try now, once the cause is gone.',
      };
    case 'failed':
      return explainFailed(event, maxAttempts);
  }
}

function explainUnmatched(event: ExplainedEvent): Explanation {
  const reason = toClause(event.message);
  if (event.message?.startsWith(ATTENTION_PREFIX) === true) {
    return {
      summary: `A payment needs attention: ${toClause(event.message.slice(ATTENTION_PREFIX.length))}`,
      advice: `${adviseAttention(event.message, event.provider) ?? ''} Dismiss the event once that is done.`,
    };
  }
  if (event.hasLicense) {
    return {
      summary: `A customer paid for more than the license contains: ${reason}`,
      advice: withBody(
        event,
        'Add the price to a product of the catalogue, then replay the event. Dismiss it if the price sells nothing that needs a license.',
      ),
    };
  }
  const repair = adviseUnmatched(event.message, event.provider) ?? '';
  return {
    summary: `A customer paid and has no license: ${reason}`,
    advice: `Add the price to a product of the catalogue, then replay the event. ${repair} Dismiss nothing: the buyer waits.`,
  };
}

function explainFailed(event: ExplainedEvent, maxAttempts: number): Explanation {
  const reason = toClause(event.message);
  if (event.type === 'unreadable') {
    return {
      summary: `A signed delivery is not an event: ${reason}`,
      advice:
        'Reveal the payload to see what was sent. Dismiss it if it was a test; otherwise correct the webhook at the provider and let it send the event again.',
    };
  }
  if (event.attempts < maxAttempts) {
    return {
      summary: `The event does not have the form of its type: ${reason}`,
      advice: withBody(
        event,
        'Update Latchkey, in case the provider changed its format, and replay the event. Dismiss it if no license depends on it.',
      ),
    };
  }
  return {
    summary: `The event could not be applied in ${event.attempts} attempts: ${reason}`,
    advice: withBody(event, 'Remove the cause and replay the event.'),
  };
}

function withBody({ hasBody }: ExplainedEvent, advice: string): string {
  return hasBody ? advice : 'Its payload is gone, so that it cannot be replayed.';
}

/** Ends a reason like a sentence. */
function toClause(message: string | null): string {
  const text = (message ?? '').trim();
  if (text === '') return 'the reason is unknown.';
  return /[.!?]$/u.test(text) ? text : `${text}.`;
}
