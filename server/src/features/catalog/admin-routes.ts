/** Feature: the catalogue and the settings in effect, as operators see them. */
import { CatalogView, EffectiveSettings, ref } from '@latchkey/contract';
import type { FastifySchema } from 'fastify';

import type { DescribedSetting } from '#server/config/describe-settings.ts';
import type { App } from '#server/http/app-instance.ts';
import { NO_SLOT } from '#server/http/database-slots.ts';
import { VIEWER } from '#server/http/require-operator.ts';

import { viewCatalog, type CatalogDependencies } from './view-catalog.ts';

interface CatalogRouteDependencies extends CatalogDependencies {
  readonly installation: CatalogDependencies['installation'] & {
    readonly settings: readonly DescribedSetting[];
    readonly warnings: readonly string[];
  };
}

export function registerCatalogRoutes(app: App, deps: CatalogRouteDependencies): void {
  app.get(
    '/api/v1/admin/catalog',
    { config: { ...VIEWER, ...NO_SLOT }, schema: catalogOperation },
    async () => viewCatalog(deps),
  );
  app.get(
    '/api/v1/admin/settings',
    { config: { ...VIEWER, ...NO_SLOT }, schema: settingsOperation },
    async () => ({
      items: [...deps.installation.settings],
      warnings: [...deps.installation.warnings],
    }),
  );
}

const shared = {
  tags: ['admin: health'],
} satisfies FastifySchema;

const catalogOperation = {
  ...shared,
  operationId: 'showCatalog',
  summary: 'Show the catalogue in use, and the problems of its file',
  response: { 200: ref(CatalogView, 'The catalogue.') },
} satisfies FastifySchema;

const settingsOperation = {
  ...shared,
  operationId: 'listSettings',
  summary: 'List the settings in effect, without secrets',
  response: { 200: ref(EffectiveSettings, 'The settings.') },
} satisfies FastifySchema;
