import type { ComponentChildren } from 'preact';

import { useResource } from '#console/app/resources.ts';

import { Loaded } from './loaded.tsx';
import { Page, type BackLink } from './page.tsx';

interface ResourcePageProps<Body> {
  /** Of the interface. */
  readonly path: string;
  readonly polls?: boolean;
  /** The title until the resource is loaded. */
  readonly title: string;
  readonly back: BackLink;
  /** Returns the `Page` of the resource. */
  readonly children: (data: Body) => ComponentChildren;
}

/** The page of one resource. Until it is loaded, and when it cannot be, the page has a general title. */
export function ResourcePage<Body>(props: ResourcePageProps<Body>) {
  const { path, polls = false, title, back, children } = props;
  const resource = useResource<Body>(path, { polls });
  if (resource.data !== undefined) return <>{children(resource.data)}</>;
  return (
    <Page title={title} back={back}>
      <Loaded resource={resource}>{() => null}</Loaded>
    </Page>
  );
}
