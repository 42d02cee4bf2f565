import type { Logger } from '#server/log.ts';

import { loadCatalog, type Catalog } from './catalog.ts';

import { StartupError } from './startup-error.ts';

/** The catalogue of a running service. */
export interface LiveCatalog {
  current(): Catalog;
  /** Reads the file again; if it is invalid, logs the problems and keeps the current catalogue. */
  reload(): void;
}

/**
 * Reads the catalogue and keeps it.
 * @throws StartupError naming every problem at once, each with its line and field
 */
export function openLiveCatalog(path: string, log: Pick<Logger, 'info' | 'error'>): LiveCatalog {
  let catalog = loadCatalog(path);
  return {
    current: () => catalog,
    reload() {
      try {
        catalog = loadCatalog(path);
        log.info(
          { event: 'catalog.reloaded', products: catalog.products.size },
          'reloaded the catalogue',
        );
      } catch (error) {
        if (!(error instanceof StartupError)) throw error;
        log.error(
          { event: 'catalog.reload_failed', problems: error.problems },
          'could not reload the catalogue; the previous one is kept',
        );
      }
    },
  };
}
