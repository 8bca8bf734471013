variable "instances" {
  description = "Each instance's uptime check, and its Cloud Run services by the functions' names in the code."
  type        = map(object({ services = map(string), uptime_check_id = string }))
  nullable    = false
}

variable "labels" {
  description = "The labels of the alert policies."
  type        = map(string)
  nullable    = false
}

variable "notification_channels" {
  description = "The full names of the notification channels that receive alerts."
  type        = set(string)
  nullable    = false
}

variable "project_id" {
  description = "The Google Cloud project's id."
  type        = string
  nullable    = false
}
