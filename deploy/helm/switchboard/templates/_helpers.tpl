{{- define "switchboard.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* At most 40 characters, because Kubernetes appends to it. */}}
{{- define "switchboard.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- $name := include "switchboard.name" . }}
{{- if contains $name .Release.Name }}
{{- .Release.Name | trunc 40 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name $name | trunc 40 | trimSuffix "-" }}
{{- end }}
{{- end }}
{{- end }}

{{- define "switchboard.selector" -}}
app.kubernetes.io/name: {{ include "switchboard.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Not the name of the nodes: the pod of `helm test` must get none of their traffic. */}}
{{- define "switchboard.testSelector" -}}
app.kubernetes.io/name: {{ include "switchboard.name" . }}-test
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "switchboard.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 }}
{{ include "switchboard.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "switchboard.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}

{{- define "switchboard.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "switchboard.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{/* The claim of the files that all nodes share. */}}
{{- define "switchboard.mediaClaim" -}}
{{- if .Values.media.existingClaim }}
{{- .Values.media.existingClaim }}
{{- else if .Values.media.create }}
{{- include "switchboard.fullname" . }}-media
{{- end }}
{{- end }}

{{- define "switchboard.publicUrl" -}}
{{- if .Values.publicUrl }}
{{- .Values.publicUrl }}
{{- else if .Values.ingress.enabled }}
{{- ternary "http" "https" (empty .Values.ingress.tlsSecret) }}://{{ .Values.ingress.host }}
{{- end }}
{{- end }}

{{/* The settings of the chart, which those of the values replace. */}}
{{- define "switchboard.settings" -}}
{{- $name := include "switchboard.fullname" . }}
{{- $service := printf "%s.%s" $name .Release.Namespace }}
{{- $hosts := list $name $service (printf "%s.svc" $service) (printf "%s.svc.cluster.local" $service) }}
{{- $settings := dict
  "DATA_DIR" "/data"
  "ALLOWED_HOSTS" (concat $hosts .Values.allowedHosts | join ",")
  "STOP_DELAY_SECONDS" .Values.stopDelaySeconds
  "STOP_TIMEOUT_SECONDS" .Values.stopTimeoutSeconds
  "METRICS" (ternary "on" "off" .Values.metrics.enabled)
}}
{{- if .Values.metrics.enabled }}
{{- $_ := set $settings "METRICS_PORT" .Values.metrics.port }}
{{- end }}
{{- with include "switchboard.publicUrl" . }}
{{- $_ := set $settings "PUBLIC_URL" . }}
{{- end }}
{{- if .Values.ingress.enabled }}
{{- $_ := set $settings "TRUST_PROXY" "on" }}
{{- end }}
{{- with .Values.webhookAllowedCidrs }}
{{- $_ := set $settings "WEBHOOK_ALLOWED_CIDRS" (join "," .) }}
{{- end }}
{{- if eq .Values.database "postgresql" }}
{{- $_ := set $settings "NODE_URL" (printf "http://$(POD_NAME).%s-nodes.%s.svc:8080" $name .Release.Namespace) }}
{{- if include "switchboard.mediaClaim" . }}
{{- $_ := set $settings "MEDIA_DIR" "/media" }}
{{- end }}
{{- end }}
{{- range $setting, $value := .Values.settings }}
{{- $_ := set $settings $setting $value }}
{{- end }}
{{- /* YAML turns `on` into a boolean, and Helm every number into a float. */}}
{{- range $setting, $value := $settings }}
{{- if kindIs "bool" $value }}
{{- $_ := set $settings $setting (ternary "on" "off" $value) }}
{{- else if and (kindIs "float64" $value) (eq (floor $value) $value) }}
{{- $_ := set $settings $setting (int64 $value | toString) }}
{{- else }}
{{- $_ := set $settings $setting (toString $value) }}
{{- end }}
{{- end }}
{{- toYaml $settings }}
{{- end }}

{{/* Refuses values that would lose data or start nodes that cannot work together. */}}
{{- define "switchboard.validate" -}}
{{- if eq .Values.database "sqlite" }}
{{- if gt (int .Values.replicas) 1 }}
{{- fail "database: sqlite is for one node. Set replicas to 1, or database to postgresql." }}
{{- end }}
{{- if or .Values.secrets.DATABASE_URL .Values.settings.DATABASE_URL }}
{{- fail "DATABASE_URL needs database: postgresql." }}
{{- end }}
{{- else }}
{{- if not (or .Values.existingSecret .Values.secrets.DATABASE_URL) }}
{{- fail "database: postgresql needs DATABASE_URL in existingSecret or secrets." }}
{{- end }}
{{- if and (gt (int .Values.replicas) 1) (not (include "switchboard.mediaClaim" .)) (not .Values.settings.MEDIA_S3_URL) }}
{{- fail "Several nodes need one place for files: media.existingClaim, media.create, or MEDIA_S3_URL in settings." }}
{{- end }}
{{- end }}
{{- if and .Values.existingSecret .Values.secrets }}
{{- fail "Use existingSecret or secrets, not both." }}
{{- end }}
{{- end }}
