import type { Need } from '@latchkey/contract';
import { showOverview } from '@latchkey/contract/admin/overview';

import { useOperation } from '#console/app/call.ts';
import { hrefOf } from '#console/app/router.ts';
import { hasRole } from '#console/app/session.ts';
import { Badge, type Tone } from '#console/ui/badge.tsx';
import { Empty } from '#console/ui/empty.tsx';
import { Figures } from '#console/ui/figures.tsx';
import { Loaded } from '#console/ui/loaded.tsx';
import { Page, Section } from '#console/ui/page.tsx';
import { Time } from '#console/ui/time.tsx';

import { describeFigures } from './describe-figures.ts';

/** What needs an operator, and the figures of the last 30 days. */
export function StartPage() {
  const overview = useOperation(showOverview, {}, { polls: true });
  return (
    <Page title="Start">
      <Loaded resource={overview}>
        {({ needs, figures, rolled_at: rolledAt }) => (
          <>
            <Section
              title="What needs you"
              intro={
                needs.length > 0 && !hasRole('support') && 'Operators with a higher role repair it.'
              }
            >
              <Needs items={needs} />
            </Section>
            <Section
              title="Last 30 days"
              intro={
                rolledAt === null ? (
                  'The first numbers appear a few minutes after the service has started.'
                ) : (
                  <>
                    The lines end yesterday; the dashed ones are the 30 days before. Counted{' '}
                    <Time at={rolledAt} as="relative" />.
                  </>
                )
              }
            >
              <Figures items={describeFigures(figures)} />
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

const TONES: Readonly<Record<Need['severity'], Tone>> = {
  critical: 'bad',
  warning: 'warning',
  notice: 'info',
};

const WORDS: Readonly<Record<Need['severity'], string>> = {
  critical: 'Critical',
  warning: 'Warning',
  notice: 'Notice',
};

function Needs({ items }: { readonly items: readonly Need[] }) {
  if (items.length === 0) {
    return (
      <Empty title="Nothing needs you">
        Payments are applied, e-mails are sent, outgoing webhooks arrive, and jobs run.
      </Empty>
    );
  }
  return (
    <ul class="needs">
      {items.map(({ code, path, sentence, severity, since }, index) => (
        <li key={`${code} ${path} ${index}`}>
          <a href={hrefOf(path)}>
            <Badge tone={TONES[severity]}>{WORDS[severity]}</Badge>
            <span class="sentence">{sentence}</span>
            {since !== null && (
              <span class="since">
                <Time at={since} as="relative" />
              </span>
            )}
          </a>
        </li>
      ))}
    </ul>
  );
}
