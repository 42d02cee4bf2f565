import type { CatalogProductView, CatalogView } from '@latchkey/contract';

import { hrefOf } from '#console/app/router.ts';
import { Badge } from '#console/ui/badge.tsx';
import { CopyButton } from '#console/ui/copy-button.tsx';
import { Facts } from '#console/ui/facts.tsx';
import { formatNumber } from '#console/ui/format.ts';
import { nameProvider } from '#console/ui/labels.ts';

interface ProductProps {
  readonly product: CatalogProductView;
  readonly catalog: CatalogView;
  readonly problems: CatalogView['problems'];
}

/** A product on sale, with its prices at the payment providers. */
export function Product({ product, catalog, problems }: ProductProps) {
  const { id, name, tier, features, airgap_days: airgap, moves } = product;
  const { duration_days: days, updates_days: updates } = product;
  return (
    <section class="card">
      <h3>
        {name} {product.is_trial && <Badge tone="info">trial</Badge>}
      </h3>
      <Problems items={problems} />
      <Facts
        items={[
          [
            'Id',
            <a href={hrefOf(`/licenses?product=${encodeURIComponent(id)}`)}>
              <code>{id}</code>
            </a>,
          ],
          ['Type, tier', `${product.product_type}, ${tier}`],
          ['Features', features.length === 0 ? 'none' : features.join(', ')],
          ['Machines', formatNumber(product.max_activations)],
          ['Term', days === null ? 'perpetual, or as long as it is paid' : `${days} days`],
          ...(updates === null ? [] : [['Updates', `${updates} days from a payment`] as const]),
          ['Offline', `${product.offline_days} days without a check`],
          ['Air-gapped activation', airgap === null ? 'not offered' : `for ${airgap} days`],
          ['Moves', `${moves.extra} more machines in ${moves.days} days`],
          ['Prices', <Prices prices={product.prices} providers={catalog.providers} />],
          ...(product.updates_prices.length === 0
            ? []
            : [
                [
                  'Prices of updates',
                  <Prices prices={product.updates_prices} providers={catalog.providers} />,
                ] as const,
              ]),
        ]}
      />
    </section>
  );
}

interface PricesProps {
  readonly prices: CatalogProductView['prices'];
  readonly providers: CatalogView['providers'];
}

function Prices({ prices, providers }: PricesProps) {
  if (prices.length === 0) {
    return <span class="dim">none: no payment creates its licenses</span>;
  }
  const unconfigured = new Set(
    providers.filter((each) => !each.is_configured).map(({ provider }) => provider),
  );
  return (
    <ul>
      {prices.map(({ provider, price_id: price }) => (
        <li key={`${provider} ${price}`}>
          {nameProvider(provider)} <code>{price}</code>{' '}
          <CopyButton text={price} label={`Copy ${price}`} />
          {unconfigured.has(provider) && <Badge tone="warning">not connected</Badge>}
        </li>
      ))}
    </ul>
  );
}

/** Problems of the file, each with its line. */
export function Problems({ items }: { readonly items: CatalogView['problems'] }) {
  if (items.length === 0) return null;
  return (
    <ul>
      {items.map(({ line, message }) => (
        <li key={`${line} ${message}`} class="bad-text">
          {line === null ? '' : `Line ${line}: `}
          {message}
        </li>
      ))}
    </ul>
  );
}
