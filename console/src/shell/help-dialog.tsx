import { hasRole } from '#console/app/session.ts';
import { PAGES } from '#console/pages.ts';
import { Dialog } from '#console/ui/dialog.tsx';

/** The keys of the console. */
export function HelpDialog({ onClose }: { readonly onClose: () => void }) {
  const pages = PAGES.filter(({ nav, role }) => nav?.key !== undefined && hasRole(role));
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl class="keys">
        <Key keys={['/']} label="Search everything" />
        <Key keys={['f']} label="Search the list that is shown" />
        <Key keys={['?']} label="This help" />
        <Key keys={['Esc']} label="Close a dialog" />
        {pages.map(({ path, nav }) => (
          <Key key={path} keys={['g', nav?.key ?? '']} label={`Go to ${nav?.label ?? ''}`} />
        ))}
      </dl>
      <p class="dim">
        The address of each page holds its search, filters and order: bookmark or share it.
        Operators sign in to see it.
      </p>
    </Dialog>
  );
}

interface KeyProps {
  readonly keys: readonly string[];
  readonly label: string;
}

function Key({ keys, label }: KeyProps) {
  return (
    <div>
      <dt>
        {keys.map((key) => (
          <kbd key={key}>{key}</kbd>
        ))}
      </dt>
      <dd>{label}</dd>
    </div>
  );
}
