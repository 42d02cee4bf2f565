import { Button } from '#console/ui/button.tsx';
import { CopyButton } from '#console/ui/copy-button.tsx';

interface RecoveryCodesProps {
  readonly codes: readonly string[];
  readonly onStored: () => void;
}

/** Recovery codes, which are shown once. */
export function RecoveryCodes({ codes, onStored }: RecoveryCodesProps) {
  const text = codes.join('\n');
  return (
    <div class="form">
      <p>
        Each code signs you in once when you do not have your phone. Store them where you keep your
        passwords: <strong>they are not shown again.</strong>
      </p>
      <ol class="codes" aria-label="Recovery codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{code}</code>
          </li>
        ))}
      </ol>
      <div class="buttons">
        <Button kind="primary" onClick={onStored}>
          I stored them
        </Button>
        <CopyButton text={text} label="Copy recovery codes" />
        <a
          class="button"
          download="latchkey-recovery-codes.txt"
          href={`data:text/plain;charset=utf-8,${encodeURIComponent(`${text}\n`)}`}
        >
          Download
        </a>
      </div>
    </div>
  );
}
