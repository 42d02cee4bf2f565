import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

import { matchPath, type RouteProps } from '#console/app/match-path.ts';
import { path } from '#console/app/router.ts';
import { hasRole } from '#console/app/session.ts';
import { PAGES, type PageEntry } from '#console/pages.ts';
import { Button, LinkButton } from '#console/ui/button.tsx';
import { Empty, Loading } from '#console/ui/empty.tsx';
import { Page } from '#console/ui/page.tsx';

import { Boundary } from './boundary.tsx';

/** The page of the current path. */
export function Route() {
  const { value } = path;
  for (const entry of PAGES) {
    const params = matchPath(entry.path, value);
    if (params === null) continue;
    return (
      <Boundary key={value}>
        <Known entry={entry} params={params} />
      </Boundary>
    );
  }
  return (
    <Page title="Page not found">
      <Empty title="There is no page at this address.">
        <LinkButton to="/">Go to the start page</LinkButton>
      </Empty>
    </Page>
  );
}

interface KnownProps extends RouteProps {
  readonly entry: PageEntry;
}

function Known({ entry, params }: KnownProps) {
  if (!hasRole(entry.role)) {
    return (
      <Page title="Not allowed">
        <Empty title="Your role does not include this page.">
          Ask an administrator if you need it.
        </Empty>
      </Page>
    );
  }
  return <Lazy load={entry.load} params={params} />;
}

/** Begins to load the module of the page at the current path, while the session is read. */
export function preloadPage(): void {
  const entry = PAGES.find((each) => matchPath(each.path, path.peek()) !== null);
  if (entry === undefined) return;
  loadOnce(entry.load).catch(() => {
    // The page shows the failure.
  });
}

/** The page behind a sign-in link. */
export function WelcomeRoute() {
  return <Lazy load={loadWelcome} params={{}} />;
}

async function loadWelcome(): Promise<ComponentType<RouteProps>> {
  return (await import('#console/pages/welcome/welcome-page.tsx')).WelcomePage;
}

/** The page of a window that was at the identity provider. */
export function BackRoute() {
  return <Lazy load={loadBack} params={{}} />;
}

async function loadBack(): Promise<ComponentType<RouteProps>> {
  return (await import('#console/pages/welcome/back-page.tsx')).BackPage;
}

interface LazyProps extends RouteProps {
  readonly load: PageEntry['load'];
}

const loaded = new Map<PageEntry['load'], ComponentType<RouteProps>>();

async function loadOnce(load: PageEntry['load']): Promise<void> {
  loaded.set(load, await load());
}

/** Loads the module of a page, and renders it. */
function Lazy({ load, params }: LazyProps) {
  const [state, setState] = useState<'loading' | 'failed' | 'ready'>('loading');
  const Component = loaded.get(load);
  useEffect(() => {
    // It may have been loaded since this was rendered.
    if (loaded.has(load)) {
      setState('ready');
      return undefined;
    }
    let isCurrent = true;
    const show = async (): Promise<void> => {
      await loadOnce(load);
      if (isCurrent) setState('ready');
    };
    show().catch(() => {
      if (isCurrent) setState('failed');
    });
    return () => {
      isCurrent = false;
    };
  }, [load]);
  if (Component !== undefined) return <Component params={params} />;
  return state === 'failed' ? <LoadFailed /> : <Loading />;
}

/** The service has another version than the page, or does not answer. */
function LoadFailed() {
  return (
    <Page title="This page could not be loaded">
      <Empty title="The console was updated, or the service does not answer.">
        <Button kind="primary" onClick={() => globalThis.location.reload()}>
          Load again
        </Button>
      </Empty>
    </Page>
  );
}
