import type { IssuedLicenses } from '@latchkey/contract';

import { saveFile } from '#console/app/save-file.ts';
import { Button } from '#console/ui/button.tsx';
import { CopyButton } from '#console/ui/copy-button.tsx';
import { Notice } from '#console/ui/error-box.tsx';
import { formatNumber } from '#console/ui/format.ts';

interface IssuedKeysProps {
  readonly many: IssuedLicenses['items'];
  /** How many were asked for. */
  readonly wanted: number;
  /** Why the others were not issued. */
  readonly problem?: string;
  readonly onAgain: () => void;
}

/** The keys of several licenses, one on each line. */
export function IssuedKeys({ many, wanted, problem, onAgain }: IssuedKeysProps) {
  const text = many.map(({ license_key: key }) => `${key}\n`).join('');
  return (
    <div class="form">
      <Notice kind={many.length === wanted ? 'good' : 'warning'}>
        <p role="status">
          {formatNumber(many.length)} of {formatNumber(wanted)} licenses are issued.
        </p>
        {problem}
      </Notice>
      <textarea
        aria-label="License keys"
        rows={Math.min(many.length, 12)}
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
