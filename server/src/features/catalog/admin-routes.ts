/** Feature: the catalogue and the settings in effect, as operators see them. */
import { listSettings, showCatalog } from '@latchkey/contract';

import type { DescribedSetting } from '#server/config/describe-settings.ts';
import type { App } from '#server/http/app-instance.ts';
import { NO_SLOT } from '#server/http/database-slots.ts';
import { serveOperation } from '#server/http/serve-operation.ts';

import { viewCatalog, type CatalogDependencies } from './view-catalog.ts';

interface CatalogRouteDependencies extends CatalogDependencies {
  readonly installation: CatalogDependencies['installation'] & {
    readonly settings: readonly DescribedSetting[];
    readonly warnings: readonly string[];
  };
}

export function registerCatalogRoutes(app: App, deps: CatalogRouteDependencies): void {
  serveOperation(app, showCatalog, () => viewCatalog(deps), NO_SLOT);
  const viewSettings = () => {
    const { settings, warnings } = deps.installation;
    return { items: [...settings], warnings: [...warnings] };
  };
  serveOperation(app, listSettings, viewSettings, NO_SLOT);
}
