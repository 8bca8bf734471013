# The root module validates what a person writes; this one is given values that hold.

variable "archives" {
  description = "Where each function's archive is, by the function's name in the code."
  type        = map(object({ bucket = string, object = string }))
  nullable    = false
}

variable "build_service_account" {
  description = "Id of the service account that builds the functions."
  type        = string
  nullable    = false
}

variable "cors_origins" {
  description = "Origins whose pages may call from a browser."
  type        = set(string)
  nullable    = false
}

variable "database" {
  description = "The name of the database."
  type        = string
  nullable    = false
}

variable "docker_repository" {
  description = "Id of the repository that the built images are kept in."
  type        = string
  nullable    = false
}

variable "domain" {
  description = "The domain that the instance answers on."
  type        = string
  nullable    = false
}

variable "exporters" {
  description = "Service accounts that may write to the bucket for exports."
  type        = set(string)
  nullable    = false
}

variable "id" {
  description = "The instance's id, which begins the name of everything."
  type        = string
  nullable    = false
}

variable "importers" {
  description = "Service accounts that may read from the bucket for imports."
  type        = set(string)
  nullable    = false
}

variable "location" {
  description = "Where the database is."
  type        = string
  nullable    = false
}

variable "log_level" {
  description = "How much the functions log."
  type        = string
  nullable    = false
}

variable "min_instances" {
  description = "How many processes of removeOtpEmail wait for requests."
  type        = number
  nullable    = false
}

variable "notification_channels" {
  description = "Names of the channels that alerts are sent to."
  type        = set(string)
  nullable    = false
}

variable "project_id" {
  description = "The Google Cloud project."
  type        = string
  nullable    = false
}

variable "region" {
  description = "The region of the functions and buckets."
  type        = string
  nullable    = false
}

variable "transfer_retention_days" {
  description = "After how many days files in the two buckets are deleted."
  type        = number
  nullable    = false
}
