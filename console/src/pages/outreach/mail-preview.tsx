import type { CampaignPreview } from '@latchkey/contract';
import { showPreviewFrame } from '@latchkey/contract/admin/outreach-compose';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

import { pathOf } from '#console/app/call.ts';

interface MailPreviewProps {
  /** Undefined before the first one. */
  readonly preview: CampaignPreview | undefined;
  readonly sender: string | null;
}

const VIEWS = [
  { id: 'wide', label: 'Desktop' },
  { id: 'phone', label: 'Phone' },
  { id: 'text', label: 'Text' },
] as const;

type View = (typeof VIEWS)[number]['id'];

/** The mail as it arrives: HTML, on a phone, and as plain text. */
export function MailPreview({ preview, sender }: MailPreviewProps) {
  const [view, setView] = useState<View>('wide');
  return (
    <section class="mail-preview" aria-label="Preview" aria-busy={preview === undefined}>
      <header>
        <div class="mail-head">
          <p class="mail-subject">{preview?.subject || <span class="dim">No subject</span>}</p>
          <p class="dim small">{sender ?? 'No mail relay is configured'}</p>
        </div>
        <div class="segments" role="group" aria-label="View">
          {VIEWS.map(({ id, label }) => (
            <button key={id} type="button" aria-pressed={view === id} onClick={() => setView(id)}>
              {label}
            </button>
          ))}
        </div>
      </header>
      {view === 'text' ? (
        <pre class="mail-plain" tabIndex={0}>
          {preview?.text}
        </pre>
      ) : (
        <div class={`mail-frame ${view}`}>
          <PreviewFrame html={preview?.html ?? ''} />
        </div>
      )}
    </section>
  );
}

/** Shows HTML in a document of the service that cannot reach the console. */
function PreviewFrame({ html }: { readonly html: string }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [isReady, setReady] = useState(false);
  // Before the frame can load: its message would be missed, and the mail never shown.
  useLayoutEffect(() => {
    const onMessage = ({ source, data }: MessageEvent): void => {
      if (source === frame.current?.contentWindow && data === 'ready') setReady(true);
    };
    addEventListener('message', onMessage);
    return () => removeEventListener('message', onMessage);
  }, []);
  useEffect(() => {
    // The sandboxed document has no origin.
    if (isReady && html !== '') frame.current?.contentWindow?.postMessage(html, '*');
  }, [html, isReady]);
  return (
    <iframe
      ref={frame}
      title="The mail"
      src={pathOf(showPreviewFrame)}
      sandbox="allow-scripts"
      tabIndex={0}
    />
  );
}
