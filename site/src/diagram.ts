import { renderMermaidSVG } from 'beautiful-mermaid';
import { escapeHtml } from './html.ts';

/**
 * Renders a Mermaid diagram as SVG with the colors of `style.css`. Its source stays readable below it, for screen
 * readers. Returns undefined if the renderer does not know this type of diagram.
 *
 * The renderer writes a style sheet that loads a font from another server, and a style attribute. The policy of the
 * page forbids both, so they are removed.
 *
 * @param id distinguishes the diagrams of a page
 */
export function renderDiagram(source: string, id: number): string | undefined {
  let svg: string;
  try {
    svg = renderMermaidSVG(labelFirst(source), { transparent: true });
  } catch {
    return undefined;
  }
  const plain = svg
    .replaceAll(/<style>.*?<\/style>/gs, '')
    .replaceAll(/ style="[^"]*"/g, '')
    .replaceAll(/ (id|marker-start|marker-end)="(url\(#)?([\w-]+)(\)?)"/g, ` $1="$2diagram${id}-$3$4"`)
    .replace('<svg ', '<svg role="img" aria-label="Diagram" ');
  return `<figure class="diagram"><div class="scroll" role="region" aria-label="Diagram ${id}" tabindex="0">${plain}</div>
<details><summary>Diagram as text</summary><pre><code>${escapeHtml(source)}</code></pre></details></figure>\n`;
}

/** The parts of a flowchart: lines without nodes, labels of edges, texts, and nodes with or without a label. */
const flowchartPart =
  /^\s*(?:subgraph|style|class|classDef|click|linkStyle|direction|%%).*$|(?<!-)--\s.*?\s--+[>xo]?|(?<!=)==\s.*?\s==+>?|-\.\s.*?\s\.-+>?|\|[^|]*\||"[^"]*"|([A-Za-z_]\w*)(\(\[.*?\]\)|\[\(.*?\)\]|\[\[.*?\]\]|\(\(.*?\)\)|\[.*?\]|\(.*?\)|\{.*?\})?/gm;

/** Writes the label of a node at its first mention, because the renderer ignores a label that comes later. */
function labelFirst(source: string): string {
  if (!/^\s*(?:flowchart|graph)\b/.test(source)) return source;
  const labels = new Map<string, string>();
  for (const [, node, label] of source.matchAll(flowchartPart))
    if (node !== undefined && label !== undefined && !labels.has(node)) labels.set(node, label);
  const seen = new Set<string>();
  return source.replaceAll(flowchartPart, (part: string, node?: string, label?: string) => {
    if (node === undefined || seen.has(node)) return part;
    seen.add(node);
    return label === undefined ? part + (labels.get(node) ?? '') : part;
  });
}
