import type { ArchiveLocation } from '@latchkey/contract';

import { Button } from '#console/ui/button.tsx';
import { Dialog } from '#console/ui/dialog.tsx';

interface ArchivesDialogProps {
  readonly archives: readonly ArchiveLocation[];
  readonly onClose: () => void;
}

/** The archives that an erasure did not reach; it stays until the operator closes it. Nothing without archives. */
export function ArchivesDialog({ archives, onClose }: ArchivesDialogProps) {
  if (archives.length === 0) return null;
  return (
    <Dialog title="Archived events are not erased" onClose={onClose}>
      <p>
        These archives may contain more events. Search their files, and write them without these
        events: <code>docs/operations/event-archive.md</code> describes how.
      </p>
      <ul>
        {archives.map(({ days, first_day: first, last_day: last, location }) => (
          <li key={location}>
            <code>{location}</code>
            <br />
            {days === 1 ? first : `${days} days, ${first} to ${last}`}
          </li>
        ))}
      </ul>
      <div class="buttons">
        <Button kind="primary" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}
