import { CopyButton } from '#console/ui/copy-button.tsx';
import { Section } from '#console/ui/page.tsx';

/** What to run on each server, so that its agent answers this console. */
export function AllowConsole() {
  const command = `sudo latchkey-agent origins add ${globalThis.location.origin}`;
  return (
    <Section
      title="Allow this console"
      intro="An agent answers only pages that it knows. Run this once on each server:"
    >
      <p class="buttons">
        <code class="break">{command}</code>
        <CopyButton text={command} label="Copy command" />
      </p>
    </Section>
  );
}
