import type { IssuedLicenses } from '@latchkey/contract';

import { saveFile } from '#console/app/save-file.ts';
import { Button } from '#console/ui/button.tsx';
import { CopyButton } from '#console/ui/copy-button.tsx';
import { Notice } from '#console/ui/error-box.tsx';
import { formatNumber } from '#console/ui/format.ts';

interface IssuedKeysProps {
  readonly issued: IssuedLicenses['items'];
  /** How many were asked for. */
  readonly wanted: number;
  readonly onAgain: () => void;
}

/** The keys of several licenses, one on each line. */
export function IssuedKeys({ issued, wanted, onAgain }: IssuedKeysProps) {
  const text = issued.map(({ license_key: key }) => `${key}\n`).join('');
  return (
    <div class="form">
      <Notice kind={issued.length === wanted ? 'good' : 'warning'}>
        <p role="status">
          {formatNumber(issued.length)} of {formatNumber(wanted)} licenses are issued.
        </p>
      </Notice>
      <textarea
        aria-label="License keys"
        rows={Math.min(issued.length, 12)}
        readOnly
        spellcheck={false}
        value={text}
      />
      <div class="buttons">
        <Button
          kind="primary"
          onClick={() => saveFile({ name: 'license-keys.txt', content: new Blob([text]) })}
        >
          Save as a file
        </Button>
        <CopyButton text={text} label="Copy license keys" />
        <Button onClick={onAgain}>Issue more</Button>
      </div>
    </div>
  );
}
