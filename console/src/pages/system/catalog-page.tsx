import type { CatalogProductView, CatalogView } from '@latchkey/contract';
import { showCatalog } from '@latchkey/contract/admin/catalog';

import { useOperation } from '#console/app/call.ts';
import { Badge } from '#console/ui/badge.tsx';
import { Facts } from '#console/ui/facts.tsx';
import { formatNumber } from '#console/ui/format.ts';
import { Loaded } from '#console/ui/loaded.tsx';
import { Page, Section } from '#console/ui/page.tsx';
import { PlainTable } from '#console/ui/plain-table.tsx';
import { nameProvider } from '#console/ui/labels.ts';
import { Problems, Product } from './catalog-product.tsx';

/** The products on sale, their prices at the payment providers, and the settings of mail. */
export function CatalogPage() {
  const catalog = useOperation(showCatalog, {});
  return (
    <Page
      title="Catalog"
      intro="What the service sells by. Change the file, then restart the service or send it SIGHUP."
    >
      <Loaded resource={catalog}>{(data) => <Content catalog={data} />}</Loaded>
    </Page>
  );
}

function Content({ catalog }: { readonly catalog: CatalogView }) {
  const { problems, products } = catalog;
  const elsewhere = problems.filter(({ path }) => productOf(path, products) === null);
  return (
    <>
      <FileState catalog={catalog} />
      <Problems items={elsewhere} />
      <Facts
        items={[
          ['File', <code>{catalog.file}</code>],
          ['Key prefix', <code>{catalog.key_prefix}</code>],
          ['Trial', <Trial catalog={catalog} />],
        ]}
      />
      <Section title="Products">
        <div class="cards">
          {products.map((product) => (
            <Product
              key={product.id}
              product={product}
              catalog={catalog}
              problems={problems.filter(({ path }) => productOf(path, products) === product)}
            />
          ))}
        </div>
      </Section>
      <Providers providers={catalog.providers} />
      <Mail catalog={catalog} />
    </>
  );
}

/** Returns the product that a problem is at. */
function productOf(
  path: string | null,
  products: readonly CatalogProductView[],
): CatalogProductView | null {
  const index = /^products\[(\d+)\]/.exec(path ?? '')?.[1];
  return index === undefined ? null : (products[Number(index)] ?? null);
}

function FileState({
  catalog: { is_outdated: isOutdated, problems },
}: {
  readonly catalog: CatalogView;
}) {
  if (problems.length > 0) {
    return (
      <p class="notice error" role="alert">
        The file has problems. The service keeps the catalog that it read before, and would not
        start again with this file.
      </p>
    );
  }
  if (!isOutdated) return null;
  return (
    <p class="notice warning" role="status">
      The file has changed since the service read it. Restart the service or send it SIGHUP.
    </p>
  );
}

function Trial({ catalog }: { readonly catalog: CatalogView }) {
  const product = catalog.products.find(({ is_trial: isTrial }) => isTrial);
  const features = catalog.trial_features.join(', ');
  return (
    <>
      {product?.name ?? catalog.trial_product_id}, 7 days
      {features !== '' && <span class="dim"> with {features}</span>}
    </>
  );
}

function Providers({ providers }: Pick<CatalogView, 'providers'>) {
  return (
    <Section
      title="Payment providers"
      intro="A provider is connected when the secret that signs its webhooks is set."
    >
      <PlainTable
        caption="Payment providers"
        rows={providers}
        rowKey={({ provider }) => provider}
        columns={[
          { key: 'name', label: 'Provider', cell: ({ provider }) => nameProvider(provider) },
          {
            key: 'prices',
            label: 'Prices',
            align: 'end',
            cell: ({ prices }) => formatNumber(prices),
          },
          { key: 'state', label: 'Webhooks', cell: describeConnection },
          {
            key: 'setting',
            label: 'Setting',
            grow: true,
            cell: ({ setting, is_configured: isSet }) => (
              <>
                <code>{setting}</code> <span class="dim">{isSet ? '(secret)' : 'not set'}</span>
              </>
            ),
          },
        ]}
      />
    </Section>
  );
}

function describeConnection(provider: CatalogView['providers'][number]) {
  const { is_configured: isSet, prices } = provider;
  if (isSet) return <Badge tone="good">connected</Badge>;
  if (prices === 0) return <span class="dim">not used</span>;
  return <Badge tone="warning">not connected</Badge>;
}

function Mail({ catalog: { mail, outreach } }: { readonly catalog: CatalogView }) {
  return (
    <Section title="Mail">
      <div class="stack">
        {!mail.is_configured && (
          <p class="notice warning">
            No mail is sent: set LATCHKEY_SMTP_URL and LATCHKEY_MAIL_FROM, and restart the service.
          </p>
        )}
        <Facts
          items={[
            ['Sender', mail.from],
            ['Relay', mail.relay],
            [
              'DKIM',
              mail.dkim_domain === null
                ? 'not signed by this service'
                : `${mail.dkim_selector ?? ''}._domainkey.${mail.dkim_domain}`,
            ],
            ['Subscribers', mail.double_opt_in ? 'confirm by e-mail' : 'are not asked to confirm'],
            ['Outreach is from', outreach.sender],
            ['Product in outreach', outreach.product_name],
            ['Postal address', outreach.postal_address],
            ['Website', outreach.website],
            ['Described in', outreach.languages.join(', ') || 'no language'],
          ]}
        />
      </div>
    </Section>
  );
}
