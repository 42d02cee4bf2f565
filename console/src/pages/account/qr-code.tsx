import { generate } from 'lean-qr/nano';

interface QrCodeProps {
  readonly text: string;
  readonly label: string;
}

/** The quiet zone that readers need (ISO/IEC 18004), in modules. */
const MARGIN = 4;

/** A QR code as SVG: dark on white in every color scheme, as some readers need it. */
export function QrCode({ text, label }: QrCodeProps) {
  const code = generate(text);
  const size = code.size + 2 * MARGIN;
  let path = '';
  for (let y = 0; y < code.size; y += 1) {
    for (let x = 0; x < code.size; x += 1) {
      if (code.get(x, y)) path += `M${x + MARGIN} ${y + MARGIN}h1v1h-1z`;
    }
  }
  return (
    <svg
      class="qr"
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      role="img"
      aria-label={label}
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
