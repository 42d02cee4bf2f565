import type { MailTemplateItem } from '@latchkey/contract';
import { listMailTemplates } from '@latchkey/contract/admin/mails';

import { useOperation } from '#console/app/call.ts';
import { hrefOf } from '#console/app/router.ts';
import { Loaded } from '#console/ui/loaded.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';
import { nameLanguage } from '#console/ui/labels.ts';

/** Every mail that the service can send. */
export function Templates() {
  const resource = useOperation(listMailTemplates, {});
  return (
    <Loaded resource={resource}>
      {({ items }) => (
        <PlainTable<MailTemplateItem>
          caption="Templates"
          rows={items}
          rowKey={({ name }) => name}
          columns={[
            {
              key: 'title',
              label: 'Mail',
              grow: true,
              cell: ({ name, title }) => <a href={hrefOf(`/mail/templates/${name}`)}>{title}</a>,
            },
            { key: 'languages', label: 'Preview', cell: Languages },
          ]}
        />
      )}
    </Loaded>
  );
}

function Languages({ name, title, languages }: MailTemplateItem) {
  return (
    <span class="actions">
      {languages.map((language, index) => (
        <a
          key={language}
          aria-label={`${title} in ${nameLanguage(language)}`}
          href={hrefOf(`/mail/templates/${name}${index === 0 ? '' : `?language=${language}`}`)}
        >
          {nameLanguage(language)}
        </a>
      ))}
    </span>
  );
}
