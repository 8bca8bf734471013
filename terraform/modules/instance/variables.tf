# The root module validates its inputs; this module expects valid values.

variable "archives" {
  description = "The bucket and object of each function's archive, by the function's name in the code."
  type        = map(object({ bucket = string, object = string }))
  nullable    = false
}

variable "audit_retention_days" {
  description = "The number of days for which the log bucket keeps the audit trail."
  type        = number
  nullable    = false
}

variable "backup_days" {
  description = "The number of days for which the daily backups are kept."
  type        = number
  nullable    = false
}

variable "build_service_account" {
  description = "The id of the service account that builds the functions."
  type        = string
  nullable    = false
}

variable "cors_origins" {
  description = "The origins whose pages may call the functions from a browser."
  type        = set(string)
  nullable    = false
}

variable "database" {
  description = "The database's name."
  type        = string
  nullable    = false
}

variable "docker_repository" {
  description = "The id of the Artifact Registry repository for the functions' images."
  type        = string
  nullable    = false
}

variable "domain" {
  description = "The instance's domain."
  type        = string
  nullable    = false
}

variable "exporters" {
  description = "The service accounts, as IAM members, that may create objects in the bucket for exports."
  type        = set(string)
  nullable    = false
}

variable "id" {
  description = "The instance's id, which prefixes the names of its resources."
  type        = string
  nullable    = false
}

variable "importers" {
  description = "The service accounts, as IAM members, that may read objects of the bucket for imports."
  type        = set(string)
  nullable    = false
}

variable "kms_keys" {
  description = "The keys that encrypt the database, and the functions' sources and files in the region; null leaves them to Google's own."
  type        = object({ database = optional(string), region = optional(string) })
  nullable    = false
}

variable "labels" {
  description = "The labels of the instance's resources, in addition to `identity-instance`."
  type        = map(string)
  nullable    = false
}

variable "location" {
  description = "The database's location: a region or a multi-region."
  type        = string
  nullable    = false
}

variable "master_key" {
  description = "The Secret Manager secret with the master key, and the version that exports and imports use."
  type        = object({ secret = string, version = string })
  nullable    = false
}

variable "max_instances" {
  description = "The maximum number of processes of each function."
  type        = number
  nullable    = false
}

variable "memory" {
  description = "The memory of functions in MiB, by their names in the code, instead of that of `functions.json`."
  type        = map(number)
  nullable    = false
}

variable "min_instances" {
  description = "The minimum number of removeOtpEmail processes. With 0, the first request waits for a cold start."
  type        = number
  nullable    = false
}

variable "project_id" {
  description = "The Google Cloud project's id."
  type        = string
  nullable    = false
}

variable "public_access" {
  description = "`allUsers` grants everyone the invoker's role on the functions; `unchecked` grants it to no one, and expects that the check of invokers is disabled."
  type        = string
  nullable    = false
}

variable "region" {
  description = "The region of the functions and buckets."
  type        = string
  nullable    = false
}
