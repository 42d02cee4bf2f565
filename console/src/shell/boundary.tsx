import { Component, type ComponentChildren } from 'preact';

import { Button } from '#console/ui/button.tsx';
import { Empty } from '#console/ui/empty.tsx';
import { Page } from '#console/ui/page.tsx';

interface BoundaryProps {
  readonly children?: ComponentChildren;
}

/** Shows the failure of a page in its place, so that the navigation stays usable. */
export class Boundary extends Component<BoundaryProps, { readonly failed: boolean }> {
  static override getDerivedStateFromError(): { readonly failed: boolean } {
    return { failed: true };
  }

  override componentDidCatch(error: unknown): void {
    // For the developer tools of the browser.
    reportError(error);
  }

  override render() {
    if (!this.state.failed) return this.props.children;
    return (
      <Page title="This page failed">
        <Empty title="The console has an error on this page.">
          <p>Nothing was changed. Report it with the address of the page.</p>
          <Button kind="primary" onClick={() => globalThis.location.reload()}>
            Load again
          </Button>
        </Empty>
      </Page>
    );
  }
}
