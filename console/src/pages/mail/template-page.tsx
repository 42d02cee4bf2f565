import { LANGUAGES } from '@latchkey/contract/constants';
import { listMailTemplates, previewMail, previewMailHtml } from '@latchkey/contract/admin/mails';
import { useId } from 'preact/hooks';

import { pathOf, useOperation } from '#console/app/call.ts';
import { changeQuery, query } from '#console/app/router.ts';
import type { RouteProps } from '#console/app/match-path.ts';
import { Card, Page, Section } from '#console/ui/page.tsx';
import { Loaded } from '#console/ui/loaded.tsx';
import { selectedTab, Tabs } from '#console/ui/tabs.tsx';
import { nameLanguage } from '#console/ui/labels.ts';

const TABS = LANGUAGES.map((id) => ({ id, label: nameLanguage(id) }));

/** A mail with example data in one language: as HTML in a frame without scripts, and as text. */
export function TemplatePage({ params }: RouteProps) {
  const { name = '' } = params;
  const language = selectedTab(TABS, 'language');
  const template = useOperation(listMailTemplates, {}).data?.items.find(
    (each) => each.name === name,
  );
  const shown = { params: { name }, query: { language, name: query.value.get('name') ?? '' } };
  const preview = useOperation(previewMail, shown);
  const title = template?.title ?? 'Template';
  return (
    <Page
      title={title}
      intro="With example data. Nothing is sent."
      back={{ to: '/mail?tab=templates', label: 'Templates' }}
    >
      <Tabs label="Language" items={TABS} name="language" />
      {template?.has_name === true && <RecipientName />}
      <Loaded resource={preview}>
        {({ subject, text }) => (
          <>
            <p>
              <span class="dim">Subject: </span>
              <strong>{subject}</strong>
            </p>
            <iframe
              class="template-frame"
              title={`${title} in ${nameLanguage(language)}`}
              sandbox=""
              src={pathOf(previewMailHtml, shown)}
            />
            <Section title="As text">
              <Card>
                <pre class="json" tabIndex={0}>
                  {text}
                </pre>
              </Card>
            </Section>
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** The name of the recipient in the preview. */
function RecipientName() {
  const id = useId();
  return (
    <div class="filters">
      <div class="filter">
        <label for={id}>Name of the recipient</label>
        <input
          id={id}
          maxLength={200}
          value={query.value.get('name') ?? ''}
          placeholder="Ada"
          onChange={({ currentTarget: { value } }) => changeQuery({ name: value })}
        />
      </div>
    </div>
  );
}
